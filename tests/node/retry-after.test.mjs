// @ts-check
// What `Retry-After` and `Date` are read as: by the table, by what the crate `httpdate` makes of
// thousands of dates (tests/core/http_date.rs), and by example.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { headOf } from '../../js/representation.js';
import { retryAfterOf } from '../../js/retry-after.js';
import { random } from './random.mjs';

/** @param {string} file */
const json = (file) =>
  JSON.parse(readFileSync(new URL(`../vectors/${file}`, import.meta.url), 'utf8'));

/** Before any date, in ms since 1970. */
const BEGINNING = Date.UTC(-1, 0, 1);
const NOON = 'Mon, 30 Nov 2026 12:00:00 GMT';

/** Headers with these fields, as they come. @param {string} value @param {string} [date] */
const fields = (value, date) => ({
  get: (/** @type {string} */ name) => (name === 'date' ? (date ?? null) : value),
});

const wait = (/** @type {string} */ value, /** @type {string} */ date = NOON) =>
  retryAfterOf(fields(value, date), NaN);

/** A date in ms since 1970, or NaN. @param {string} value */
const timeOf = (value) => retryAfterOf(fields(value), BEGINNING) + BEGINNING;

const SEED = Number(process.env.HOLDFAST_SEED ?? 1);
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The three forms, the last with a zero and with a blank. @param {number} ms */
function forms(ms) {
  const fixdate = new Date(ms).toUTCString();
  const [name, day, month, year, clock] = fixdate.split(/,? /);
  const full = DAYS.find((each) => each.startsWith(name));
  return {
    fixdate,
    rfc850: `${full}, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
    asctime: `${name} ${month} ${day} ${clock} ${year}`,
    padded: `${name} ${month} ${day.replace(/^0/, ' ')} ${clock} ${year}`,
  };
}

describe('Retry-After', () => {
  test('R25: Retry-After values read as the vectors say', () => {
    const { cases } = json('retry-after.json');
    assert.equal(cases.length, 39);
    for (const { retryAfter, date, localNow, expectMs, why } of cases) {
      const found = retryAfterOf(fields(retryAfter, date), Date.parse(localNow));
      assert.equal(found, expectMs ?? NaN, `${retryAfter}: ${why}`);
    }
  });

  test('R25: a row of digits is seconds up to the longest span', () => {
    assert.equal(wait('9007199254740'), 9_007_199_254_740_000);
    assert.equal(wait('9007199254741'), NaN);
    assert.equal(wait('000000000000000000000000000000120'), 120_000);
    assert.equal(wait('9'.repeat(400)), NaN);
    assert.equal(wait('12٣'), NaN);
    assert.equal(wait('1\n2'), NaN);
  });

  test('R25: what is not there, or there twice, says nothing', () => {
    assert.equal(retryAfterOf(new Headers({ date: NOON }), 0), NaN);
    for (const [one, other] of [
      ['1', '2'],
      [NOON, NOON],
    ]) {
      const headers = new Headers([
        ['retry-after', one],
        ['retry-after', other],
      ]);
      assert.equal(retryAfterOf(headers, 0), NaN);
    }
  });

  test('R25: a clock that was never set says no time', () => {
    const at = 'Mon, 30 Nov 2026 12:00:05 GMT';
    const now = Date.parse(NOON);
    const unset = [
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Mon, 01 Jan 0001 00:00:00 GMT',
      'now',
      '',
      '5',
    ];
    for (const date of unset) {
      assert.equal(retryAfterOf(fields(at, date), now), 5000, date);
    }
    const first = 'Thu, 01 Jan 1970 00:00:01 GMT';
    assert.equal(retryAfterOf(fields(at, first), now), now + 4000);
  });

  test('R25: only a refusal says how long to wait', () => {
    const last = (/** @type {number} */ status, /** @type {Record<string, string>} */ headers) =>
      headOf(new Response(null, { status, headers })).at(-1);
    for (const status of [300, 404, 429, 503]) {
      assert.equal(last(status, { 'retry-after': '3' }), 3000, `${status}`);
      assert.equal(last(status, {}), NaN);
    }
    for (const status of [200, 206, 299]) assert.equal(last(status, { 'retry-after': '3' }), NaN);
    const next = new Date(Date.now() + 100_000).toUTCString();
    const local = last(503, { 'retry-after': next }) ?? NaN;
    assert.ok(local > 60_000 && local <= 100_000, 'the local clock stands in for a Date');
    assert.equal(last(503, { 'retry-after': next, date: next }), 0);
  });
});

describe('an HTTP-date', () => {
  test('R25: a date is one exactly where the judge says so, however damaged it is', () => {
    /** @type {[string, number | null, (number | null)?][]} */
    const judgements = json('http-dates.json');
    const counts = { dates: 0, others: 0, differ: 0 };
    for (const [text, judged, expected = judged] of judgements) {
      assert.equal(timeOf(text), expected === null ? NaN : expected * 1000, JSON.stringify(text));
      counts[expected === null ? 'others' : 'dates'] += 1;
      if (expected !== judged) counts.differ += 1;
    }
    assert.ok(counts.dates > 2000 && counts.others > 2000 && counts.differ > 200);
  });

  test('R25: every instant reads the same in all forms', () => {
    const next = random(SEED);
    const last = Date.UTC(9999, 11, 31, 23, 59, 59);
    for (let count = 0; count < 20_000; count += 1) {
      const first = count % 2 ? Date.UTC(1970, 0, 1) : Date.parse('0000-01-01T00:00:00Z');
      const end = count % 2 ? Date.UTC(2070, 0, 1) - 1000 : last;
      const at = first + Math.floor(next() * ((end - first) / 1000 + 1)) * 1000;
      const { fixdate, rfc850, asctime, padded } = forms(at);
      for (const form of [fixdate, asctime, padded, ...(count % 2 ? [rfc850] : [])]) {
        assert.equal(timeOf(form), at, form);
      }
    }
  });

  test('R25: a date exists or is nothing', () => {
    for (const value of [
      'Wed, 30 Feb 2028 12:00:00 GMT',
      'Mon, 29 Feb 2027 12:00:00 GMT',
      'Mon, 29 Feb 2100 12:00:00 GMT',
      'Sun, 00 Nov 2026 12:00:00 GMT',
      'Tue, 30 Nov 2026 12:00:00 GMT',
      'Mon, 30 Nov 2026 24:00:00 GMT',
      'Mon, 30 Nov 2026 12:60:00 GMT',
      'Mon, 30 Nov 2026 12:00:61 GMT',
      'Mon, 30 nov 2026 12:00:00 GMT',
      'mon, 30 Nov 2026 12:00:00 GMT',
      'Mon, 30 Nov 2026 12:00:00 gmt',
      'Mon,  30 Nov 2026 12:00:00 GMT',
      'Tue,  1 Dec 2026 12:00:00 GMT',
      'Mo, 30 Nov 2026 12:00:00 GMT',
      'Monday, 30 Nov 2026 12:00:00 GMT',
      'Mon, 30-Nov-26 12:00:00 GMT',
      'Monday, 30-Nov-2026 12:00:00 GMT',
      'Mond, 30 Nov 2026 12:00:00 GMT',
      'Tuesda, 01-Dec-26 12:00:00 GMT',
      'Tueday, 01-Dec-26 12:00:00 GMT',
      'Monsday, 30-Nov-26 12:00:00 GMT',
      'Tues, 01 Dec 2026 12:00:00 GMT',
      'Monday Nov 30 12:00:00 2026',
      'Tue Dec 1  12:00:00 2026',
      'Tue Dec 1 12:00:00 2026',
      'Thu Dec 1  12:00:00 2026',
      'day, 30-Nov-26 12:00:00 GMT',
      ', 30 Nov 2026 12:00:00 GMT',
      ' Nov 30 12:00:00 2026',
      'Lun, 30 Nov 2026 12:00:00 GMT',
      'Mon, 30 Nov 2026 12:00:0٣ GMT',
      'Mon, 15 Jan 22074 22:37:57 GMT',
      'Wed Aug  5 08:29:36 20065',
      'Invalid Date',
      '2026-11-30T12:00:00Z',
      'Mon Nov 30 2026 12:00:00 GMT+0000',
    ]) {
      assert.equal(timeOf(value), NaN, value);
    }
  });

  test('R25: leap days exist', () => {
    const noon = (/** @type {number} */ year) => Date.UTC(year, 1, 29, 12);
    assert.equal(timeOf('Tue, 29 Feb 2028 12:00:00 GMT'), noon(2028));
    assert.equal(timeOf('Tue, 29 Feb 2000 12:00:00 GMT'), noon(2000));
    assert.equal(timeOf('Tuesday, 29-Feb-28 12:00:00 GMT'), noon(2028));
    assert.equal(timeOf('Tue Feb 29 12:00:00 2028'), noon(2028));
  });

  test('R25: blanks around a date are not part of it', () => {
    const at = 1_796_040_000_000;
    assert.equal(timeOf(NOON), at);
    assert.equal(timeOf(` \t${NOON} \t`), at);
    assert.equal(wait('Mon, 30 Nov 2026 12:00:05 GMT', ` ${NOON}\t`), 5000);
    assert.equal(wait('\t 5 '), 5000);
    const headers = new Headers({ 'retry-after': ' Mon, 30 Nov 2026 12:00:05 GMT ', date: NOON });
    assert.equal(retryAfterOf(headers, NaN), 5000);
  });

  test('R25: a date in the past is zero', () => {
    assert.equal(wait('Mon, 30 Nov 2026 11:59:59 GMT'), 0);
    assert.equal(wait(NOON), 0);
    assert.equal(retryAfterOf(fields('Thu, 01 Jan 1970 00:00:01 GMT'), 5000), 0);
  });

  test('R25: two digits of a year mean 1970 to 2069', () => {
    for (let year = 1970; year < 2070; year += 1) {
      const date = Date.UTC(year, 10, 30, 12);
      const digits = String(year).slice(2);
      const read = DAYS.map((day) => timeOf(`${day}, 30-Nov-${digits} 12:00:00 GMT`));
      assert.deepEqual(
        read.filter((at) => !Number.isNaN(at)),
        [date],
        'one day of the week fits',
      );
    }
  });

  test('R25: a date differs from the judge: a leap second is the second after the one before it', () => {
    for (const [leap, next] of [
      ['Sat, 31 Dec 2016 23:59:60 GMT', 'Sun, 01 Jan 2017 00:00:00 GMT'],
      ['Saturday, 31-Dec-16 23:59:60 GMT', 'Sunday, 01-Jan-17 00:00:00 GMT'],
      ['Sat Dec 31 23:59:60 2016', 'Sun Jan  1 00:00:00 2017'],
      ['Mon, 30 Nov 2026 12:00:60 GMT', 'Mon, 30 Nov 2026 12:01:00 GMT'],
    ]) {
      assert.ok(timeOf(next) > 0);
      assert.equal(timeOf(leap), timeOf(next), leap);
    }
  });

  test('R25: a date differs from the judge: before 1970 it is past', () => {
    for (const value of [
      'Wed, 31 Dec 1969 23:59:59 GMT',
      'Mon, 01 Jan 0001 00:00:00 GMT',
      'Sat, 01 Jan 0000 00:00:00 GMT',
      'Tue Feb 29 12:00:00 0000',
      'Wed Dec 31 23:59:59 1969',
    ]) {
      assert.equal(wait(value), 0, value);
      assert.ok(timeOf(value) < 0, value);
    }
    // Even then it has to exist.
    for (const value of [
      'Thu, 31 Dec 1969 23:59:59 GMT',
      'Wed Feb 29 12:00:00 1900',
      'Thu Feb 29 12:00:00 1900',
    ]) {
      assert.equal(wait(value), NaN, value);
    }
  });

  test('R25: a date differs from the judge: a blank is a space or a tab', () => {
    for (const blank of ['\v', '\f', '\n', '\r', '\u00a0', '\u0085', '\ufeff', '\u2028']) {
      for (const value of [`${NOON}${blank}`, `${blank}${NOON}`, `5${blank}`, `${blank}5`]) {
        assert.equal(timeOf(value), NaN, JSON.stringify(value));
      }
    }
  });

  test('R25: a date differs from the judge: a blank stands before the time', () => {
    assert.equal(timeOf('Monday, 30-Nov-26 12:00:00 GMT'), Date.parse(NOON));
    for (const value of ['Monday, 30-Nov-26,12:00:00 GMT', 'Monday, 30-Nov-26T12:00:00 GMT']) {
      assert.equal(timeOf(value), NaN, value);
    }
  });
});

test('R25: whatever a server writes is a span or nothing', () => {
  const next = random(SEED);
  const below = (/** @type {number} */ limit) => Math.floor(next() * limit);
  const one = (/** @type {string[]} */ all) => all[below(all.length)];
  const pieces = [...' ,:-0123456789\t_', ...' Mon Nov GMT Tuesday day, 2026 12:00:00'.split(' ')];
  const kinds = [
    () => String(below(10)).repeat(below(20)),
    () => Array.from({ length: below(12) }, () => one(pieces)).join(one(['', ' ', ':'])),
    () =>
      Array.from({ length: below(30) }, () =>
        String.fromCharCode(below(below(4) ? 0x80 : 0x10000)),
      ).join(''),
    () => {
      const text = one(Object.values(forms(below(8e9) * 1000)));
      const at = below(text.length);
      return text.slice(0, at) + one(['', '', one(pieces), '0']) + text.slice(at + below(2));
    },
  ];
  const text = () => kinds[below(kinds.length)]();
  const counts = { said: 0, nothing: 0 };
  for (let count = 0; count < 100_000; count += 1) {
    const [value, date] = [text(), below(2) ? text() : undefined];
    const found = retryAfterOf(fields(value, date), Date.now());
    counts[Number.isNaN(found) ? 'nothing' : 'said'] += 1;
    const isRight = Number.isNaN(found) || (found >= 0 && found <= Number.MAX_SAFE_INTEGER);
    assert.ok(isRight, JSON.stringify([value, date, found]));
  }
  assert.ok(counts.said > 20_000 && counts.nothing > 20_000, JSON.stringify(counts));
});

test('R25: a long value is read in no time', () => {
  for (const piece of [' ', '5', 'Mon ', 'Mon, 30 Nov ', ': ', '12:', '\t', '-', 'x']) {
    const value = piece.repeat(200_000 / piece.length);
    const from = performance.now();
    for (const text of [value, `x${value}x`, `Mon Nov 30 ${value}`, `1${value}x`]) {
      assert.equal(retryAfterOf({ get: () => text }, 0), NaN);
    }
    assert.ok(performance.now() - from < 2000, `${piece} takes ${performance.now() - from} ms`);
  }
});
