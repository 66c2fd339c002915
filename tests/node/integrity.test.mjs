// @ts-check
// What a body is judged by: its first bytes, its last box, its container, the caller's own check.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { Body, LOST } from '../../js/body.js';
import { Integrity, integrityFor, isPage, loadScrutiny } from '../../js/integrity.js';
import { catchUncaught, eventually } from './fixture.mjs';

/** @typedef {import('../../js/integrity.js').Facts} Facts */

// Loaded with the first body that needs it; these tests push at once.
await loadScrutiny();

/**
 * Four frames of black, 16 by 16, made by ffmpeg: ftyp, moov, then twice sidx, moof and mdat, and
 * mfra.
 */
const FRAGMENTED = inflateSync(
  Buffer.from(
    [
      'eNqVVDFvEzEUfr4WFFUpnNpI7dAhrYBmYWiVRiyUoi4ZWBiaqUJc4zvu1HPuZDunAEtBDJX4B0Vqd8TCyAQDA1L/BK',
      'gdEAyIBbrQ67PvAs6pSYUT+/N7fn7vfX5PBwBznnwcByJaAbBAIc4Gi+tLKH9iUZQAQMgSn8LAGPuqgej/v0EGrYry',
      'GowcFl74IbmzjftNua1jjo3w/n9x7XwCeclo4OCmymiRV02vGx813PRpyPsnSUBd07KFctR0OjR0lQ1psKDj4aaSMO',
      '3UTOEazc7mKHc9I8Vyl4fVfP9LyK0Q8bWQgho2e07SXhr6ADb+mojNvkX5HtpXw2Crt9yon/dUs2mKax2t1gmFifQL',
      'zDxCfHP8lNjqudVC1n4u3K8SuOx/Pzpc+PDn5ETHih0R51moaQsphZkLZt425ArKT4r5CtmOzPdmidtTpZBcIxj+zX',
      'G7S6Uq2QpzNaoxb5YHS8qdOA7NS6UgFFKRFQHtkb/Oa8M6aB+vwE4m97D3Vals5vlmOR5if+pSSqW34FamH1fnUyQL',
      'UpEelQUGNcm7HYCJS1mfw46V6afyu+UcbzDqqJyvuLsvID397R9Yrx447xSbu3vX306mp5+HMyoVGR1cwMi6gNH0+Y',
      'xKoxhNFxgt5oyuurvPwUZKz94vH9I7RUot5nFV2VWJSAb7Pfc83v/4zJI8LxUkU33LVEiO9/urdQazKKDU',
    ].join(''),
    'base64',
  ),
);

/** @param {string} text */
const bytes = (text) => new Uint8Array(Buffer.from(text, 'latin1'));

/**
 * A box.
 *
 * @param {string} type
 * @param {number} payload in bytes
 * @param {{ size?: number, wide?: boolean }} [how] the size that it tells, and in 64 bits
 */
function box(type, payload, { size, wide = false } = {}) {
  const head = wide ? 16 : 8;
  const made = Buffer.alloc(head + payload, 0xee);
  const told = size ?? head + payload;
  made.writeUInt32BE(wide ? 1 : told, 0);
  made.write(type, 4, 'latin1');
  if (wide) made.writeBigUInt64BE(BigInt(told), 8);
  return made;
}

/** @param {Partial<Facts>} [facts] */
const judge = (facts) => new Integrity({ inspect: false, type: '', boxes: false, ...facts });

/**
 * What is passed on of a body in chunks of this size, and how it ends.
 *
 * @param {Integrity} integrity
 * @param {Uint8Array} body
 * @param {number} [size]
 */
function run(integrity, body, size = Infinity) {
  const passed = [];
  for (let at = 0; at < body.byteLength; at += size) {
    const chunk = integrity.push(body.subarray(at, at + size), false);
    if (chunk === LOST) return { passed, said: 'refused' };
    if (chunk) passed.push(chunk);
  }
  const rest = integrity.push(undefined, true);
  if (rest === LOST) return { passed, said: 'refused' };
  if (rest) passed.push(rest);
  return { passed, said: integrity.end() };
}

/** How a body ends. @param {Partial<Facts>} facts @param {Uint8Array} body @param {number} [size] */
const verdict = (facts, body, size) => run(judge(facts), body, size).said;

describe('the first bytes', () => {
  /** What is a page, and with which declared type. @type {Array<[string, string]>} */
  const PAGES = [
    ['<!DOCTYPE html><html>', ''],
    ['<html><head></head></html>', 'video/mp4'],
    ['\r\n  <script>location="/"</script>', ''],
    ['\xef\xbb\xbf<!doctype html>', ''],
    ['\xef\xbb\xbf \n <HTML lang="en">', ''],
    ['<?xml version="1.0"?>\n<!-- a portal -->\n<html xmlns="x">', ''],
    ['<div>please sign in</div>', 'text/html; charset=utf-8'],
    ['{"error":"sign in first"}', 'application/json'],
    [' [1, 2, 3, 4, 5, 6, 7]', 'application/problem+json'],
    [`${' '.repeat(900)}<title>Portal</title>`, ''],
    [`<!-- ${'a portal '.repeat(90)} -->\n<body>`, 'video/mp4'],
  ];
  /** What is none. @type {Array<[string, string]>} */
  const OTHERS = [
    ['#EXTM3U\n#EXT-X-VERSION:7\n', 'text/html'],
    ['\xef\xbb\xbf#EXTM3U\n#EXTINF:2,\n', 'application/json'],
    ['{"error":"not found"}', 'video/mp4'],
    ['<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">', 'application/dash+xml'],
    ['<tt xmlns="http://www.w3.org/ns/ttml">', 'text/xml'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<!-- a player -->\n<MPD>', ''],
    [`<!-- ${'endless '.repeat(300)}`, ''],
    ['<htmlish>it only begins so</htmlish>', ''],
    ['WEBVTT\n\n00:00.000 --> 00:01.000\n<b>hi</b>', 'text/plain'],
    [' '.repeat(3000), 'text/html'],
    ['', 'text/html'],
    ['G', 'application/json'],
  ];

  for (const size of [1, 2, 3, 7, 16, 17, Infinity]) {
    test(`R28: tell a page, and hold nothing else up: ${size} bytes at a time`, () => {
      for (const [text, type] of PAGES) {
        const { passed, said } = run(judge({ inspect: true, type }), bytes(text), size);
        assert.equal(said, 'refused', JSON.stringify(text));
        assert.deepEqual(passed, [], 'not a byte of it is passed on');
      }
      for (const [text, type] of OTHERS) {
        const { passed, said } = run(judge({ inspect: true, type }), bytes(text), size);
        assert.equal(said, 'whole', JSON.stringify(text));
        assert.equal(Buffer.concat(passed).toString('latin1'), text);
        assert.ok(passed.every((chunk) => chunk.byteLength > 0));
      }
    });
  }

  test('R28: pages are passed on where they are not inspected', () => {
    for (const [text, type] of PAGES) assert.equal(verdict({ type }, bytes(text)), 'whole');
    assert.ok(PAGES.every(([text, type]) => isPage(bytes(text), type)));
    assert.ok(!OTHERS.some(([text, type]) => isPage(bytes(text), type)));
  });

  test('R28: a first chunk that is long enough is passed on as it is, not copied', () => {
    const chunk = bytes('#EXTM3U\n#EXTINF:2,\nsegment.mp4\n');
    assert.equal(judge({ inspect: true }).push(chunk, false), chunk);
  });

  test('R28: white space is waited for to end, but not for ever', () => {
    const integrity = judge({ inspect: true });
    assert.equal(integrity.push(bytes(' '.repeat(1023)), false), undefined);
    const passed = integrity.push(bytes('  '), false);
    assert.equal(passed !== LOST && passed?.byteLength, 1025);
  });

  test('R28: a suspicious type is looked at first, until the first bytes are known', () => {
    for (const [inspect, type, suspicious] of /** @type {const} */ ([
      [true, 'text/html', true],
      [true, 'application/problem+JSON', true],
      [true, 'video/mp4', false],
      [false, 'text/html', false],
    ])) {
      const integrity = judge({ inspect, type });
      assert.equal(integrity.suspicious, suspicious);
      integrity.push(bytes('#EXT'), false);
      assert.equal(integrity.suspicious, suspicious);
      integrity.push(bytes('M3U\n#EXTINF:2,\n'), false);
      assert.equal(integrity.suspicious, false);
    }
  });
});

describe('the last box', () => {
  /** @param {Uint8Array} body @param {number} [size] */
  const said = (body, size) => verdict({ boxes: true }, body, size);

  /** Where a body may end: behind each top-level box but a moof. @param {Buffer} body */
  function seams(body) {
    const ends = [0];
    for (let at = 0; at < body.byteLength;) {
      const type = body.toString('latin1', at + 4, at + 8);
      at += body.readUInt32BE(at);
      if (type !== 'moof') ends.push(at);
    }
    return ends;
  }

  test('R28: the sample is what it is said to be', () => {
    assert.equal(FRAGMENTED.byteLength, 1247);
    assert.deepEqual(seams(FRAGMENTED), [0, 28, 740, 792, 950, 1002, 1161, 1247]);
  });

  test('R28: a body that is cut anywhere but behind a box is found out, however it is chunked', () => {
    const ends = seams(FRAGMENTED);
    for (let length = 0; length <= FRAGMENTED.byteLength; length += 1) {
      const expected = ends.includes(length) ? 'whole' : 'cut';
      const body = FRAGMENTED.subarray(0, length);
      for (const size of [1, 7, 64, Infinity]) {
        assert.equal(said(body, size), expected, `${length} bytes, ${size} at a time`);
      }
    }
  });

  test('R28: chunks may end anywhere', () => {
    for (let at = 0; at <= FRAGMENTED.byteLength; at += 1) {
      for (const [body, expected] of /** @type {const} */ ([
        [FRAGMENTED, 'whole'],
        [FRAGMENTED.subarray(0, 1240), 'cut'],
      ])) {
        const integrity = judge({ boxes: true });
        integrity.push(body.subarray(0, at), false);
        integrity.push(body.subarray(at), true);
        assert.equal(integrity.end(), expected, String(at));
      }
    }
  });

  test('R28: chunks are passed on as they are', () => {
    const integrity = judge({ boxes: true });
    assert.equal(integrity.push(FRAGMENTED, false), FRAGMENTED);
  });

  test('R28, R20: a body that is fetched on is judged as one', () => {
    const integrity = judge({ boxes: true, inspect: true });
    integrity.push(FRAGMENTED.subarray(0, 1130), false);
    integrity.push(undefined, true);
    assert.equal(integrity.end(), 'cut');
    integrity.push(FRAGMENTED.subarray(1130), true);
    assert.equal(integrity.end(), 'whole');
  });

  test('R28: sizes in 64 bits are read', () => {
    const whole = Buffer.concat([box('styp', 4), box('moof', 9), box('mdat', 300, { wide: true })]);
    for (let length = 0; length <= whole.byteLength; length += 1) {
      const expected = [0, 12, whole.byteLength].includes(length) ? 'whole' : 'cut';
      assert.equal(said(whole.subarray(0, length), 5), expected, String(length));
    }
    const huge = box('mdat', 10, { wide: true, size: 2 ** 33 });
    assert.equal(said(Buffer.concat([box('styp', 4), huge])), 'cut');
    assert.equal(said(box('mdat', 0, { wide: true })), 'whole');
  });

  test('R28: a box of more than 4 GiB is followed to its last byte', () => {
    const part = new Uint8Array(2 ** 24);
    for (const [rest, expected] of /** @type {const} */ ([
      [999, 'cut'],
      [1000, 'whole'],
    ])) {
      const integrity = judge({ boxes: true });
      integrity.push(box('mdat', 0, { wide: true, size: 16 + 2 ** 32 + 1000 }), false);
      for (let i = 0; i < 256; i += 1) integrity.push(part, false);
      integrity.push(part.subarray(0, rest), true);
      assert.equal(integrity.end(), expected);
    }
  });

  test('R28: an empty box is a box', () => {
    const empty = box('free', 0);
    assert.equal(said(Buffer.concat([empty, empty, box('mdat', 20)])), 'whole');
    assert.equal(said(Buffer.concat([empty, empty, box('mdat', 20).subarray(0, 27)])), 'cut');
  });

  test('R28: the last box may be open-ended', () => {
    const open = box('mdat', 50, { size: 0 });
    for (const length of [8, 9, 58]) {
      const body = Buffer.concat([box('styp', 4), box('moof', 9), open.subarray(0, length)]);
      assert.equal(said(body), 'whole', String(length));
    }
    assert.equal(said(Buffer.concat([box('styp', 4), box('moof', 9), open.subarray(0, 7)])), 'cut');
  });

  test('R28: a fragment is not whole without its media data', () => {
    const [moof, mdat, free] = [box('moof', 20), box('mdat', 20), box('free', 3)];
    assert.equal(said(moof), 'cut');
    assert.equal(said(Buffer.concat([moof, free])), 'cut');
    assert.equal(said(Buffer.concat([moof, free, mdat])), 'whole');
    assert.equal(said(Buffer.concat([moof, mdat, moof])), 'cut');
    assert.equal(said(Buffer.concat([moof, mdat, free])), 'whole');
    assert.equal(said(Buffer.concat([mdat, free])), 'whole');
  });

  test('R28: sizes that make no sense are not judged, nor what follows', () => {
    for (const size of [2, 7]) {
      assert.equal(said(Buffer.concat([box('moof', 20), box('skip', 5, { size })])), 'whole');
    }
    for (const size of [0, 15]) {
      assert.equal(
        said(Buffer.concat([box('moof', 20), box('mdat', 5, { wide: true, size })])),
        'whole',
      );
    }
    const strange = box('????', 20);
    assert.equal(
      said(Buffer.concat([box('styp', 4), strange])),
      'whole',
      'but any type may follow',
    );
    assert.equal(said(Buffer.concat([box('styp', 4), strange.subarray(0, 27)])), 'cut');
  });

  test('R28: what does not start like ISO-BMFF is never judged', () => {
    const bodies = [
      bytes('#EXTM3U\n#EXTINF:2,\nsegment.mp4\n'),
      bytes('WEBVTT\n\n00:00.000 --> 00:01.000\nmoof'),
      Buffer.alloc(1000, 0x47),
      Buffer.alloc(1000, 0),
      Buffer.alloc(1000, 0xff),
      Buffer.from('ID3\x04\0\0\0\0\0\x0f'),
      box('ftyq', 50, { size: 9000 }),
      box('\x1aE\xdf\xa3', 50, { size: 9000 }),
    ];
    for (const body of bodies) {
      for (const size of [1, 5, Infinity]) {
        assert.equal(said(body, size), 'whole', String(body.subarray(0, 8)));
      }
    }
    // Too short to tell.
    for (const length of [1, 7]) assert.equal(said(bytes('#EXTM3U').subarray(0, length)), 'whole');
  });

  test('R28: boxes are left alone where a length tells', () => {
    assert.equal(verdict({}, FRAGMENTED.subarray(0, 1000)), 'whole');
    assert.equal(verdict({ inspect: true }, FRAGMENTED.subarray(0, 1000)), 'whole');
  });
});

describe('the container that a site declares', () => {
  const packets = Buffer.alloc(188 * 3, 0xff);
  for (const at of [0, 188, 376]) packets[at] = 0x47;
  const pad = (/** @type {string} */ text) => bytes(text.padEnd(300, '.'));

  /** @type {Record<string, { right: Uint8Array[], wrong: Uint8Array[] }>} */
  const CONTAINERS = {
    hls: {
      right: [
        bytes('#EXTM3U'),
        pad('#EXTM3U\n'),
        pad('\xef\xbb\xbf#EXTM3U\n'),
        pad('\xef\xbb\xbf \r\n\t#EXTM3U\n'),
        pad(`${' '.repeat(500)}#EXTM3U\n`),
      ],
      wrong: [bytes('#EXT'), pad('#EXTINF:2,\n'), pad('please sign in'), pad('#extm3u'), packets],
    },
    webvtt: {
      right: [bytes('WEBVTT'), pad('WEBVTT\n\n'), pad('\xef\xbb\xbfWEBVTT - of a kind\n')],
      wrong: [bytes('WEB'), pad(' WEBVTT'), pad('1\n00:00:00,000 --> 00:00:01,000'), packets],
    },
    'mpeg-ts': {
      right: [packets, packets.subarray(0, 188), packets.subarray(0, 376)],
      wrong: [
        pad('please sign in'),
        bytes('please sign in'),
        FRAGMENTED,
        Buffer.concat([packets.subarray(0, 100), packets]),
      ],
    },
    mp4: {
      right: [FRAGMENTED, FRAGMENTED.subarray(740), box('styp', 4), box('moof', 40)],
      wrong: [pad('please sign in'), packets, bytes('ftyp'), box('ftyq', 40)],
    },
  };

  for (const [container, { right, wrong }] of Object.entries(CONTAINERS)) {
    const facts = /** @type {Partial<Facts>} */ ({ container });
    test(`R28: ${container}: what starts like it is passed on, and nothing else`, () => {
      for (const size of [1, 5, 16, 188, 189, Infinity]) {
        for (const body of right) {
          const { passed, said } = run(judge(facts), body, size);
          assert.equal(said, 'whole', `${body.subarray(0, 20)} ${size}`);
          assert.deepEqual(Buffer.concat(passed), Buffer.from(body));
        }
        for (const body of wrong) {
          const { passed, said } = run(judge(facts), body, size);
          assert.equal(said, 'refused', `${body.subarray(0, 20)} ${size}`);
          assert.deepEqual(passed, []);
        }
      }
    });

    test(`R28: ${container}: nothing at all is not for this to say`, () => {
      assert.equal(verdict(facts, bytes('')), 'whole');
    });
  }

  test('R28: mpeg-ts: a packet that breaks off is a body that does', () => {
    for (let length = 1; length <= packets.byteLength; length += 1) {
      const expected = length % 188 === 0 ? 'whole' : 'cut';
      assert.equal(verdict({ container: 'mpeg-ts' }, packets.subarray(0, length), 50), expected);
    }
  });
});

describe("the caller's own check", () => {
  test('R28: sees each chunk before it is passed on, then the end, in order', () => {
    /** @type {Array<Uint8Array | null>} */
    const seen = [];
    const integrity = judge({ inspect: true, validate: (chunk) => void seen.push(chunk) });
    integrity.push(bytes('#EXTM3U\n'), false);
    assert.deepEqual(seen, [], 'not what is held back');
    const first = integrity.push(bytes('#EXTINF:2,\n'), false);
    assert.equal(String(Buffer.from(/** @type {any} */ (first))), '#EXTM3U\n#EXTINF:2,\n');
    const second = integrity.push(bytes('segment.mp4\n'), false);
    integrity.push(undefined, true);
    assert.equal(integrity.end(), 'whole');
    assert.deepEqual(seen, [first, second, null]);
  });

  test('R28: false refuses, at any chunk and at the end; nothing else does', () => {
    for (const [i, said] of ['refused', 'refused', 'refused', 'wrong'].entries()) {
      let calls = 0;
      const validate = () => (calls += 1) <= i;
      const { passed, said: ended } = run(judge({ validate }), bytes('abcdef'), 2);
      assert.equal(ended, said);
      assert.equal(passed.length, i);
      assert.equal(calls, i + 1);
    }
    for (const answer of [true, undefined, null, 0, '', NaN, Promise.resolve(false)]) {
      const validate = /** @type {any} */ (() => answer);
      assert.equal(verdict({ validate }, bytes('abcdef'), 2), 'whole');
    }
  });

  test('R28: one that throws has no opinion, and its error is reported', async (t) => {
    const uncaught = catchUncaught(t);
    const broken = new Error('a broken check');
    const validate = () => {
      throw broken;
    };
    const { passed, said } = run(judge({ validate }), bytes('abcd'), 2);
    assert.equal(said, 'whole');
    assert.equal(passed.length, 2);
    await eventually(() => uncaught.length === 3);
    assert.ok(uncaught.every((error) => error === broken));
  });

  test('R28: a body that is cut is not said to have ended', () => {
    /** @type {Array<Uint8Array | null>} */
    const seen = [];
    const validate = (/** @type {Uint8Array | null} */ chunk) => void seen.push(chunk);
    assert.equal(verdict({ boxes: true, validate }, FRAGMENTED.subarray(0, 1000)), 'cut');
    assert.ok(!seen.includes(null));
  });
});

describe('the judge of a response', () => {
  /** @typedef {Parameters<typeof integrityFor>[0]} Asked */
  const url = 'https://cdn.test/a.mp4';
  const length = { 'content-length': '1247' };

  /**
   * @param {Partial<Asked>} [asked]
   * @param {ResponseInit} [init]
   * @param {boolean} [inspect]
   */
  const judgeOf = (asked, init = { headers: length }, inspect = false) =>
    integrityFor({ site: 'segment', url, policy: {}, ...asked }, new Response('x', init), inspect);

  /** Whether a last box that is cut would be found out. @param {Integrity} [integrity] */
  const isCut = (integrity) =>
    integrity && run(integrity, FRAGMENTED.subarray(0, 1000)).said === 'cut';

  test('R28: there is none where there is nothing to check', () => {
    assert.equal(judgeOf(), undefined);
    assert.equal(judgeOf({ site: 'key' }, {}), undefined);
    assert.ok(judgeOf({}, undefined, true));
    assert.ok(judgeOf({ policy: { container: 'mp4' } }));
    assert.ok(judgeOf({ policy: { validate: () => () => true } }));
  });

  test('R28: the last box is looked at where no length can be read', () => {
    for (const site of /** @type {const} */ (['init', 'segment'])) {
      assert.ok(isCut(judgeOf({ site }, {})));
      assert.ok(isCut(judgeOf({ site }, { status: 206 })), 'of a range that was not the caller’s');
      assert.equal(judgeOf({ site }), undefined);
      assert.ok(!isCut(judgeOf({ site }, undefined, true)));
      assert.equal(judgeOf({ site, range: 'bytes=0-999' }, { status: 206 }), undefined);
    }
    for (const site of /** @type {const} */ (['manifest', 'text-segment', 'license', 'other'])) {
      assert.equal(judgeOf({ site }, {}), undefined);
    }
  });

  test('R28: refusals, and what has no body, are not judged', () => {
    const policy = { validate: () => assert.fail('asked') };
    assert.equal(judgeOf({ policy }, { status: 404 }, true), undefined);
    assert.equal(judgeOf({ policy }, { status: 503 }, true), undefined);
    assert.equal(judgeOf({ policy, noBody: true }, {}, true), undefined);
  });

  test('R28: the type of the response counts', () => {
    const typed = (/** @type {string} */ type) =>
      judgeOf({ site: 'playlist' }, { headers: { 'content-type': type } }, true);
    assert.equal(typed('text/html')?.suspicious, true);
    assert.equal(typed('video/mp4')?.suspicious, false);
    const page = bytes('{"error":"sign in first"}');
    assert.equal(typed('application/json')?.push(page, false), LOST);
    assert.equal(typed('video/mp4')?.push(page, false), page);
  });

  test("R28: the caller's check is made for each body, and told of it", () => {
    /** @type {any[]} */
    const told = [];
    /** @type {any[]} */
    const seen = [];
    const policy = {
      validate: (/** @type {any} */ facts) => {
        told.push(facts);
        return (/** @type {any} */ chunk) => void seen.push(chunk);
      },
    };
    const init = { status: 206, headers: { etag: '"a"', ...length } };
    for (let i = 0; i < 2; i += 1) {
      const integrity = judgeOf({ policy }, init);
      assert.ok(integrity);
      assert.equal(run(integrity, bytes('abcdef')).said, 'whole');
    }
    assert.equal(told.length, 2);
    const { headers, ...facts } = told[0];
    assert.deepEqual(facts, { site: 'segment', url, status: 206 });
    assert.equal(headers.get('etag'), '"a"');
    assert.deepEqual(seen, [bytes('abcdef'), null, bytes('abcdef'), null]);
  });

  test("R28: a caller's check that cannot be made is none", async (t) => {
    const uncaught = catchUncaught(t);
    for (const answer of [undefined, null, false, 'no', {}]) {
      assert.equal(judgeOf({ policy: { validate: /** @type {any} */ (() => answer) } }), undefined);
    }
    const broken = new Error('a broken check');
    const validate = () => {
      throw broken;
    };
    assert.equal(judgeOf({ policy: { validate } }), undefined);
    await eventually(() => uncaught.includes(broken));
  });
});

describe('a body under its judge', () => {
  /**
   * Reads a body to its end.
   *
   * @param {Uint8Array[]} chunks
   * @param {Integrity} [integrity]
   */
  async function pump(chunks, integrity) {
    /** @type {any[]} */
    const told = [];
    const monitor = {
      reading: () => {},
      chunk: (/** @type {number} */ size) => told.push(size) > 0,
      end: (/** @type {boolean} */ whole) => (told.push(whole ? 'whole' : 'cut'), whole),
      lost: () => void told.push('lost'),
      page: () => void told.push('page'),
    };
    const queue = [...chunks];
    const stream = new ReadableStream({
      pull(controller) {
        const chunk = queue.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const body = new Body(new Response(stream), monitor, { integrity });
    const passed = [];
    for (;;) {
      const chunk = await body.read(0);
      if (chunk === null || chunk === LOST) return { passed, told, body, isLost: chunk === LOST };
      passed.push(chunk);
    }
  }
  const halves = [FRAGMENTED.subarray(0, 1000), FRAGMENTED.subarray(1000)];

  test('R28: one that is whole is passed on, and its end told', async () => {
    const { passed, told, body, isLost } = await pump(
      halves,
      judge({ boxes: true, inspect: true }),
    );
    assert.deepEqual(passed, halves);
    assert.deepEqual(told, [1000, 247, 'whole']);
    assert.equal(isLost, false);
    assert.equal(body.state, 'whole');
    assert.equal(body.received, 1247);
  });

  test('R28: one that is cut ends as that, and counts only if the monitor says so', async () => {
    const { passed, told, body, isLost } = await pump(halves.slice(0, 1), judge({ boxes: true }));
    assert.deepEqual(passed, halves.slice(0, 1));
    assert.deepEqual(told, [1000, 'cut']);
    assert.equal(isLost, true);
    assert.equal(body.state, 'lost');
  });

  test('R28: a page is told as that, and no byte of it as passed on', async () => {
    const page = [bytes('<ht'), bytes('ml><head>'), bytes('<title>Portal</title>')];
    const { passed, told, body, isLost } = await pump(page, judge({ inspect: true }));
    assert.deepEqual(passed, []);
    assert.deepEqual(told, [0, 0, 'page']);
    assert.equal(isLost, true);
    assert.equal(body.state, 'page');
    assert.equal(body.received, 0);
  });

  test("R28: what the caller's check refuses at its end is told as a page", async () => {
    const validate = (/** @type {Uint8Array | null} */ chunk) => chunk !== null;
    const { passed, told, body, isLost } = await pump(halves, judge({ validate }));
    assert.deepEqual(passed, halves);
    assert.deepEqual(told, [1000, 247, 'page']);
    assert.equal(isLost, true);
    assert.equal(body.state, 'page');
  });

  test('R28: what is held back is told when it is passed on', async () => {
    const parts = [bytes('#EXT'), bytes('M3U\n'), bytes('#EXTINF:2,\n')];
    const { passed, told } = await pump(parts, judge({ inspect: true }));
    assert.deepEqual(passed, [bytes('#EXTM3U\n#EXTINF:2,\n')]);
    // What is held back is no silence, and no byte yet.
    assert.deepEqual(told, [0, 0, 19, 'whole']);
    const short = await pump([bytes('#EXT')], judge({ inspect: true }));
    assert.deepEqual(short.passed, [bytes('#EXT')]);
    assert.deepEqual(short.told, [0, 4, 'whole']);
  });

  test('R28: a look at the first chunk keeps it', async () => {
    for (const [text, fine] of /** @type {const} */ ([
      ['#EXTM3U\n#EXTINF:2,\n', true],
      ['<!doctype html><html></html>', false],
    ])) {
      const monitor = { reading() {}, chunk: () => true, end: () => true, lost() {}, page() {} };
      const integrity = judge({ inspect: true, type: 'text/html' });
      const body = new Body(new Response(text), monitor, { integrity });
      assert.equal(body.suspicious, true);
      assert.equal(await body.look(), fine);
      assert.equal(body.suspicious, false);
      if (fine) assert.deepEqual(await body.read(0), bytes(text));
    }
  });

  test('R28: without a judge everything is passed on', async () => {
    const page = bytes('<html></html>');
    const { passed, told, body } = await pump([page, ...halves.slice(0, 1)]);
    assert.deepEqual(passed, [page, halves[0]]);
    assert.deepEqual(told, [13, 1000, 'whole']);
    assert.equal(body.suspicious, false);
  });
});
