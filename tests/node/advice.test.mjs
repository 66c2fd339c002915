// @ts-check
// Server advice as it is read from its two fields: by the public suite for RFC 9651, by what the
// crate `sfv` made of thousands of fields (tests/core/structured.rs), and by example.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { parseDictionary, parseItem, parseList, readAdvice } from '../../js/advice.js';
import { random } from './random.mjs';

/** @typedef {import('../../js/advice.js').Bare} Bare */
/** @typedef {import('../../js/advice.js').Member} Member */

const VECTORS = new URL('../vectors/', import.meta.url);
/** @param {string} file */
const json = (file) => JSON.parse(readFileSync(new URL(file, VECTORS), 'utf8'));

/** With names for the places, and without what is left open. @param {number[] | undefined} said */
function named(said) {
  if (!said) return undefined;
  assert.equal(said.length, 6);
  const names = ['chunk', 'sessions', 'ranges', 'ttl', 'cap', 'duress'];
  const open = (/** @type {number} */ place) => (place === 5 ? 0 : NaN);
  const pairs = said.map((value, place) => /** @type {const} */ ([names[place], value]));
  return Object.fromEntries(pairs.filter(([, value], place) => !Object.is(value, open(place))));
}

const own = (/** @type {string} */ field) => named(readAdvice(field, ''));
const cmsd = (/** @type {string} */ field) => named(readAdvice('', field));

/**
 * A case of the suite. One that can fail may do either.
 *
 * @typedef {object} Case
 * @property {'item' | 'dictionary' | 'list'} header_type
 * @property {string[]} raw
 * @property {boolean} [must_fail]
 * @property {boolean} [can_fail]
 * @property {unknown} expected
 */

/** @type {Case[]} */
const SUITE = readdirSync(new URL('structured-fields/', VECTORS))
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => json(`structured-fields/${file}`));

/** A value as the suite writes it, but for the bytes of byte sequences. @param {Bare} value */
function typed(value) {
  if (typeof value !== 'string') return value;
  if (value.startsWith('"')) return value.slice(1, -1).replace(/\\(.)/g, '$1');
  if (value.startsWith(':')) return { __type: 'binary' };
  if (value.startsWith('@')) return { __type: 'date', value: Number(value.slice(1)) };
  if (value.startsWith('%')) {
    return { __type: 'displaystring', value: decodeURIComponent(value.slice(2, -1)) };
  }
  if (/^-?\d+\./.test(value)) return Number(value);
  return { __type: 'token', value };
}

/** @param {Member} member @returns {unknown[]} */
const written = ({ value, params }) => [
  Array.isArray(value) ? value.map(written) : typed(value),
  [...params].map(([key, of]) => [key, typed(of)]),
];

const PARSERS = {
  item: (/** @type {string} */ field) => written(parseItem(field)),
  list: (/** @type {string} */ field) => parseList(field).map(written),
  dictionary: (/** @type {string} */ field) =>
    [...parseDictionary(field)].map(([key, member]) => [key, written(member)]),
};

test('R89: the public suite of structured fields holds, to the last value', (t) => {
  const counts = { dictionary: 0, list: 0, item: 0, mustFail: 0, numbers: 0, booleans: 0 };
  for (const { header_type: kind, raw, must_fail, can_fail, expected } of SUITE) {
    counts[kind] += 1;
    const parse = () => PARSERS[kind](raw.join(', '));
    if (must_fail) {
      counts.mustFail += 1;
      assert.throws(parse, JSON.stringify(raw));
      continue;
    }
    let parsed;
    try {
      parsed = parse();
    } catch (error) {
      if (can_fail) continue;
      throw new Error(`${kind} ${JSON.stringify(raw)} is read`, { cause: error });
    }
    const bare = (/** @type {string} */ _, /** @type {any} */ value) => {
      if (typeof value === 'number') counts.numbers += 1;
      if (typeof value === 'boolean') counts.booleans += 1;
      // Minus zero is zero. The suite has base32 for the bytes, and nobody reads ours.
      return value?.__type === 'binary' ? { __type: 'binary' } : value === 0 ? 0 : value;
    };
    const wanted = JSON.stringify(expected, bare);
    assert.equal(JSON.stringify(parsed), wanted, JSON.stringify(raw));
  }
  t.diagnostic(JSON.stringify(counts));
  const { dictionary, list, item, mustFail, numbers, booleans } = counts;
  assert.deepEqual([dictionary, list, item, mustFail], [432, 319, 840, 864]);
  assert.ok(numbers > 1000 && booleans > 30);
});

test('R89: thousands of fields mean what they mean to another parser', (t) => {
  /** @type {[advice: string, dynamic: string, said: (number | null)[] | null][]} */
  const cases = json('advice.json');
  const wrong = cases.filter(([advice, dynamic, said]) => {
    // JSON has neither NaN nor minus zero.
    const read = JSON.stringify(readAdvice(advice, dynamic) ?? null);
    return read !== JSON.stringify(said);
  });
  t.diagnostic(`${cases.length} fields`);
  assert.deepEqual(wrong, []);
  assert.ok(cases.length > 5000);
});

test('R89: the integers of the dictionary are told, whatever they are', () => {
  assert.deepEqual(readAdvice('chunk=131072, sessions=4, ranges=2, ttl=60', ''), [
    ...[131_072, 4, 2, 60, NaN, 0],
  ]);
  const most = 999_999_999_999_999;
  assert.deepEqual(own(`chunk=${most}, sessions=-${most}, ranges=0, ttl=-1`), {
    ...{ chunk: most, sessions: -most, ranges: 0, ttl: -1 },
  });
});

test('R89: a member of the wrong type is absent, and the others count', () => {
  const wrong = ['sessions', 'sessions;a=1', 'sessions=?1', 'sessions=4.0', 'sessions="4"'];
  wrong.push('sessions=four', 'sessions=:NA==:', 'sessions=@4', 'sessions=%"4"', 'sessions=(4)');
  wrong.push('sessions=()', 'sessions=(4 5);x=1');
  for (const member of wrong) {
    assert.deepEqual(own(`chunk=7, ${member}, ranges=2`), { chunk: 7, ranges: 2 }, member);
  }
});

test('R89: of duplicates the last one counts, whatever its type', () => {
  assert.deepEqual(own('sessions=4, ranges=2, sessions=8'), { sessions: 8, ranges: 2 });
  assert.deepEqual(own('sessions=(1), sessions=4'), { sessions: 4 });
  for (const last of ['sessions', 'sessions=4.5', 'sessions=x', 'sessions=(4)']) {
    assert.deepEqual(own(`sessions=4, ${last}`), {}, last);
  }
  assert.deepEqual(cmsd('a;mb=1;mb=3;x-ttl=1;x-ttl=5'), { cap: 3000, ttl: 5 });
  assert.deepEqual(cmsd('a;mb=1;mb=x;x-ttl=1;x-ttl;du;du=?0, b;etp=2'), { cap: 2000 });
});

test('R89: an error anywhere is the end of the whole field, and of no other', () => {
  const members = ['sessions=4,', 'sessions=4, ranges=', 'sessions=4, Ranges=2', ',', '{"ttl":4}'];
  members.push('sessions=4 ranges=2', 'sessions=4; ranges=2, chunk=(1', 'sessions=+4', '\t', 'é');
  members.push('sessions=4, chunk=1000000000000000', 'sessions=4, x="', 'sessions=4, x=é');
  members.push('sessions=4, x=:aGVs=:', 'sessions=4, x=(1"a")', 'sessions=4;;', 'sessions=4, x=1.');
  for (const field of members) {
    assert.equal(own(field), undefined, field);
    assert.deepEqual(named(readAdvice(field, 'a;mb=7')), { cap: 7000 }, field);
  }
  const lists = [
    '1;du,',
    '1;com.example-chunk=',
    '1;du, "',
    '1;=2',
    'du=(1)',
    '1 du',
    '1;x-ttl=()',
  ];
  for (const field of lists) {
    assert.equal(cmsd(field), undefined, field);
    assert.deepEqual(named(readAdvice('ttl=7', field)), { ttl: 7 }, field);
  }
});

test('R89: a display string is UTF-8', () => {
  const strict = new TextDecoder('utf-8', { fatal: true });
  const counts = { good: 0, bad: 0 };
  const tails = [[], [0x80], [0xbf, 0x80], [0x80, 0x80, 0x61], [0xc0], [0x61]];
  for (let first = 0x7f; first < 0x100; first += 1) {
    for (let second = 0x7f; second < 0x100; second += 1) {
      for (const tail of tails) {
        const bytes = Uint8Array.of(first, second, ...tail);
        const text = Buffer.from(bytes).toString('hex').replace(/../g, '%$&');
        let isText = true;
        try {
          strict.decode(bytes);
        } catch {
          isText = false;
        }
        counts[isText ? 'good' : 'bad'] += 1;
        assert.deepEqual(own(`ttl=1, x=%"${text}"`), isText ? { ttl: 1 } : undefined, text);
      }
    }
  }
  assert.ok(counts.good > 1000 && counts.bad > 1000);
});

test('R89: what is not known is ignored', () => {
  for (const field of [
    'sessions=4, ttl=60, retries=99',
    'expires=1, sessions=4;ttl=1;du;x=y, ttl=60',
    'a=(1 2;b), sessions=4;sessions=8, ttl=60',
    'mb=1, etp=1, du, com.example-chunk=70000, sessions=4, ttl=60',
    'sessions.=1, *sessions=1, sessions=4, sessions-=1, ttl=60;ttl=1',
  ]) {
    assert.deepEqual(own(field), { sessions: 4, ttl: 60 }, field);
  }
  const hop = 'a;chunk=70000;sessions=2;ttl=5;com.example-du;x-mb=1;com.sessions=1;x-chunks=1';
  assert.deepEqual(cmsd(hop), {});
});

test('R89: a field that is right and advises nothing says so; one that is not there does not', () => {
  assert.equal(readAdvice('', ''), undefined);
  for (const said of [own('x=1'), cmsd('"cdn";rtt=50;rd=100'), named(readAdvice('x', 'y'))]) {
    assert.deepEqual(said, {});
  }
});

test('R89: a field of more than 2048 characters is ignored', () => {
  const long = (/** @type {string} */ start, /** @type {number} */ length) =>
    start.padEnd(length, 'y');
  assert.deepEqual(own(long('ttl=4, x=', 2048)), { ttl: 4 });
  assert.equal(own(long('ttl=4, x=', 2049)), undefined);
  assert.deepEqual(cmsd(long('1;a-ttl=4, ', 2048)), { ttl: 4 });
  assert.equal(cmsd(long('1;a-ttl=4, ', 2049)), undefined);
});

test('R89: any hop may tell of duress', () => {
  for (const field of ['a;du', 'a;du=?1', 'a;du=true', 'a;du=1', 'a, b;du, c;du=?0', 'a;du=0;du']) {
    assert.deepEqual(cmsd(field), { duress: 1 }, field);
  }
  const none = ['a', 'du', 'a;du=?0', 'a;du=0', 'a;du=2', 'a;du=no', 'a;du;du=?0', '(a);du'];
  for (const field of [...none, 'a;du="true"', 'a;du=1.0', 'a;du=@1']) {
    assert.deepEqual(cmsd(field), {}, field);
  }
});

test('R89: the cap is the lowest bitrate of all hops', () => {
  for (const [field, kbps] of /** @type {[string, number | undefined][]} */ ([
    ['a;mb=3000', 3000],
    ['a;etp=3000', 3000],
    ['a;mb=3000;etp=2000, b;mb=2500', 2000],
    ['a;mb=3000;etp=4000, b;rtt=5', 3000],
    ['a;mb=1000.5;etp="900"', 1000.5],
    ['a;mb=0', 1],
    ['a;mb=0.25', 1],
    ['a;etp=-7', 1],
    ['a;mb=Infinity;etp', undefined],
    ['a;mb=@5;etp=?1', undefined],
    ['(a;mb=5);mb=5', undefined],
  ])) {
    assert.deepEqual(cmsd(field), kbps === undefined ? {} : { cap: kbps * 1000 }, field);
  }
});

test('R89: hops carry members of ours under the prefix of a vendor', () => {
  const field =
    '"origin";com.example-chunk=131072;com.example-sessions=9;com.example-ttl=600, ' +
    '"cdn";rtt=20;com.other-chunk=70000;com.other-my-ranges=0;z-chunk=80000';
  assert.deepEqual(cmsd(field), { chunk: 70_000, sessions: 9, ranges: 0, ttl: 600 });
  assert.deepEqual(cmsd('a;x-sessions=2;x-sessions;x-ttl=1.5;x-chunk=?1'), {});
});

test('R89: two carriers add up to the lower of each', () => {
  const said = readAdvice(
    'sessions=4, chunk=131072, ttl=60',
    '1;mb=2000;a-sessions=8;a-chunk=70000;a-ranges=3, 2;du',
  );
  assert.deepEqual(said, [70_000, 4, 3, 60, 2_000_000, 1]);
});

test('R89, R90: no text throws, and none is more than six numbers', () => {
  const next = random(Number(process.env.HOLDFAST_SEED ?? 1));
  const below = (/** @type {number} */ limit) => Math.floor(next() * limit);
  const one = (/** @type {string[]} */ all) => all[below(all.length)];
  const keys = 'chunk sessions ranges ttl du mb etp a-chunk b-sessions c-d-ranges e-ttl'.split(' ');
  const values = '0 1 -1 7 70000 999999999999999 1.5 0.001 ?1 "a" true :aGk=: (1) @1'.split(' ');
  const rest = [...',;= ()\t"\\:%?@é\0\ud800', '%"', '%c3%a4"', ', ', '; '];
  const member = () => one(keys) + (below(4) ? `=${one(values)}` : '');
  const kinds = [
    () => `${one(['', 'x', '1', one(keys)])}${one(['', ', ', ';'])}${member()}`,
    () => one([...keys, ...values, ...rest, ...rest]),
    () => String.fromCharCode(below(below(2) ? 0x100 : 0x10000)),
  ];
  const text = () => {
    const kind = kinds[below(6) && below(3)];
    return Array.from({ length: below(5) }, kind).join(one(['', ';', ', ']));
  };
  const lower = (/** @type {number} */ a, /** @type {number} */ b) =>
    Number.isNaN(a) || b < a ? b : a;
  const counts = { fields: 20_000, read: 0 };
  for (let count = 0; count < counts.fields; count += 1) {
    const [advice, dynamic] = [text(), text()];
    const said = readAdvice(advice, dynamic);
    if (!said) continue;
    counts.read += 1;
    const [cap, duress] = said.slice(4);
    const places = said.slice(0, 4);
    const isRight = places.every((value) => Number.isNaN(value) || Number.isSafeInteger(value));
    assert.ok(isRight && said.length === 6, advice);
    assert.ok(Number.isNaN(cap) || (cap >= 1000 && Number.isFinite(cap)), dynamic);
    assert.ok(duress === 0 || duress === 1, dynamic);
    const nothing = [NaN, NaN, NaN, NaN, NaN, 0];
    const alone = readAdvice(advice, '') ?? nothing;
    const other = readAdvice('', dynamic) ?? nothing;
    const both = alone.map((value, place) =>
      place === 5 ? Math.max(value, other[place]) : lower(value, other[place]),
    );
    assert.deepEqual(said, both, `${advice} and ${dynamic}`);
  }
  assert.ok(counts.read > 2000, `${counts.read} fields are read`);
});
