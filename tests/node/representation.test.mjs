// @ts-check
// What is read of a response for those that are fitted to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askForPart, headOf, tag } from '../../js/representation.js';

const NAMES = ['first', 'last', 'total', 'length', 'etag', 'weak', 'modified', 'source', 'coding'];

/** @param {Record<string, string>} headers @param {ResponseType} [type] @param {string} [url] */
function read(headers, type = 'basic', url = 'https://a.example/x') {
  const response = new Response('', { headers });
  response.headers.delete('content-type');
  if (headers['content-type']) response.headers.set('content-type', headers['content-type']);
  Object.defineProperties(response, { type: { value: type }, url: { value: url } });
  const [, ...numbers] = headOf(response);
  return Object.fromEntries(NAMES.map((name, at) => [name, numbers[at]]));
}

/** The grammar of RFC 9110, 14.4, letter by letter. @param {string} text */
function naive(text) {
  const nothing = [NaN, NaN, NaN];
  const space = text.indexOf(' ');
  const [unit, rest] = [text.slice(0, space), text.slice(space + 1)];
  if (space < 0 || unit.toLowerCase() !== 'bytes') return nothing;
  const parts = rest.split('/');
  const isNumber = (/** @type {string} */ digits) =>
    digits.length > 0 && [...digits].every((digit) => digit >= '0' && digit <= '9');
  if (parts.length !== 2) return nothing;
  const [range, total] = parts;
  if (total !== '*' && !isNumber(total)) return nothing;
  const size = total === '*' ? NaN : Number(total);
  if (range === '*') return [NaN, NaN, size];
  const ends = range.split('-');
  if (ends.length !== 2 || !ends.every(isNumber)) return nothing;
  const [first, last] = ends.map(Number);
  return first > last || last >= size ? nothing : [first, last, size];
}

test('R21: a place is read as the grammar has it, and what breaks it is no place', () => {
  let seed = 21;
  const dice = (/** @type {number} */ sides) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * sides);
  };
  const pick = (/** @type {string[]} */ texts) => texts[dice(texts.length)];
  const odd = () => pick(['*', '', '-1', '1e3', 'x', ' 1', '0x1']);
  const number = () => (dice(8) > 0 ? pick(['0', '1', '5', '09', '10', '99', '4096', '*']) : odd());
  let places = 0;
  for (let round = 0; round < 50_000; round += 1) {
    const usual = dice(3) > 0;
    const unit = usual ? 'bytes' : pick(['bytes', 'Bytes', 'items', 'kilobytes', 'byte', '']);
    const space = usual ? ' ' : pick([' ', '', '  ', '=']);
    const range = dice(5) > 0 ? `${number()}-${number()}` : pick(['*', '', '0', '0-1-2']);
    const text = `${unit}${space}${range}${pick(['/', '/', '/', '', '//'])}${number()}`;
    const { first, last, total } = read({ 'content-range': text });
    // Fields have no white space around them.
    const expected = naive(text.trim());
    assert.deepEqual([first, last, total], expected, JSON.stringify(text));
    places += Number(!Number.isNaN(expected[0]));
  }
  assert.ok(places > 1000, `${places} were places`);
});

test('R21: texts that differ have numbers that differ, and what is not there has none', () => {
  const texts = ['', '"1"', '"2"', 'W/"1"', '"1" ', '"11"', '"abc"', '"acb"', 'x'.repeat(500)];
  for (let n = 0; n < 20_000; n += 1) texts.push(`"${n.toString(16)}-${n * 7}"`);
  assert.equal(new Set(texts.map(tag)).size, texts.length);
  assert.ok(texts.every((text) => Number.isSafeInteger(tag(text))));
  assert.ok(Number.isNaN(tag(null)));
});

test('R21: validators, the type and the origin tell representations apart', () => {
  const bare = read({});
  assert.deepEqual([bare.etag, bare.modified, bare.length], [NaN, NaN, NaN]);
  assert.equal(read({ etag: '"1"' }).weak, 0);
  assert.equal(read({ etag: 'W/"1"' }).weak, 1);
  assert.notEqual(read({ etag: '"1"' }).etag, read({ etag: 'W/"1"' }).etag);
  assert.equal(read({ 'content-length': '12' }).length, 12);
  assert.ok(Number.isNaN(read({ 'content-length': '12, 12' }).length));
  const type = (/** @type {string} */ value) => read({ 'content-type': value }).source;
  assert.equal(type('video/mp4'), type('Video/MP4; codecs="x"'));
  assert.notEqual(type('video/mp4'), type('multipart/byteranges; boundary=x'));
  assert.equal(read({}, 'basic', 'https://a.example/other?x').source, bare.source);
  assert.notEqual(read({}, 'basic', 'https://b.example/x').source, bare.source);
});

test('R21, R22: that a body is not encoded is known only where its encoding can be read', () => {
  assert.equal(read({}).coding, 0);
  assert.equal(read({}, 'cors').coding, 2, 'hidden, or not there');
  for (const type of /** @type {const} */ (['basic', 'cors'])) {
    assert.equal(read({ 'content-encoding': 'identity' }, type).coding, 0);
    assert.equal(read({ 'content-encoding': 'gzip' }, type).coding, 1);
    assert.equal(read({ 'content-encoding': 'br, gzip' }, type).coding, 1);
  }
});

test('R9, R20: a part is asked for in place of what was, and only a strong tag binds it', () => {
  const ask = (/** @type {number} */ last, /** @type {string | null} */ etag) => {
    /** @type {RequestInit} */
    const init = { headers: { range: 'bytes=0-', 'x-own': '1' } };
    askForPart(init, 'https://a.example/x', 400, last, etag);
    return { cache: init.cache, ...Object.fromEntries(new Headers(init.headers)) };
  };
  const own = { cache: 'no-store', 'x-own': '1' };
  assert.deepEqual(ask(999, null), { ...own, range: 'bytes=400-999' });
  assert.deepEqual(ask(Infinity, 'W/"1"'), { ...own, range: 'bytes=400-' });
  assert.deepEqual(ask(999, '"1"'), { ...own, range: 'bytes=400-999', 'if-range': '"1"' });
});
