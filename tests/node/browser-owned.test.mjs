// @ts-check
// The table of what the browser owns, and that there is no knob for any of it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createEngine } from 'holdfast';
import { OptionsError } from '../../js/errors.js';
import { parseOptions } from '../../js/options.js';
import { engineFor, failureOf } from './fixture.mjs';

const ROOT = new URL('../../', import.meta.url);
/** @param {string} path */
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

// The document.

/** The cells of the tables of the document, without their heads. @type {string[][][]} */
const TABLES = read('docs/browser-owned.md')
  .split(/\n\n+/)
  .filter((block) => block.startsWith('|'))
  .map((block) =>
    block
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  );

/** What stands in backticks after a word of the last column. @param {string} cell @param {string} kind */
function wordsOf(cell, kind) {
  const part = cell.split(';').find((it) => it.trim().startsWith(`${kind}:`)) ?? '';
  return [...part.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
}

const [OWNED, ABSENT] = TABLES;
const ROWS = OWNED.map(([what, why, instead, check]) => ({
  ...{ what, why, instead },
  named: wordsOf(check ?? '', 'named'),
  uses: wordsOf(check ?? '', 'uses'),
}));

/** What must be in the tables, each once. */
const TOPICS = {
  owned: [
    ...[/Alt-Svc.*HTTPS records/, /race of QUIC/, /UDP is unusable/, /version of HTTP/],
    ...[/back to TCP/, /Moving a connection/, /Proxies/, /Keep-alives/, /Early data/],
    ...[/socket buffers and flow-control/, /Congestion control/, /pool of connections.*dropping/],
    ...[/certificates/, /Name resolution/, /DSCP/, /Sending again, unseen/],
    ...[/stall while the body of a request/, /when a request was sent/, /1xx/, /Trailers/],
    ...[/Server push/, /WebTransport/],
  ],
  absent: [
    ...[/uploads/, /drains/, /fsync/, /HEAD/, /Peering/, /Delegation/, /Circumvention/],
    /Signing of tokens.*rate limits.*DNS/,
  ],
};

// The public API, in words.

/** The parts of a name: `altSvc`, `ALT_SVC` and `alt-svc` are alt and svc. @param {string} name */
const partsOf = (name) =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((part) => part.toLowerCase());

/**
 * Whether a name says this word: as some of its parts in a row, in the singular or the plural.
 *
 * @param {string} name @param {string} word
 */
function says(name, word) {
  const parts = partsOf(name);
  const sought = partsOf(word).join('');
  return parts.some((_, from) =>
    parts.some((_, to) => [sought, `${sought}s`].includes(parts.slice(from, to + 1).join(''))),
  );
}

/** The names of all options, as the check of options lists them. @param {string[]} [path] @returns {string[]} */
function optionNames(path = []) {
  const nested = (/** @type {unknown} */ value) =>
    path.reduceRight((inner, name) => ({ [name]: inner }), value);
  try {
    parseOptions(/** @type {any} */ (nested({ nobody: 1 })));
  } catch (error) {
    if (!(error instanceof OptionsError) || error.field !== [...path, 'nobody'].join('.'))
      return [];
    const names = / must be one of (.*), but is /.exec(error.message)?.[1].split(', ') ?? [];
    return [...names, ...names.flatMap((name) => optionNames([...path, name]))];
  }
  return [];
}

/** The members of an engine. */
function memberNames() {
  const engine = createEngine();
  const names = [...Reflect.ownKeys(engine), ...Reflect.ownKeys(Object.getPrototypeOf(engine))];
  engine.destroy();
  return names.map(String);
}

/** @param {string} folder @param {string} ending */
const filesOf = (folder, ending) =>
  readdirSync(new URL(folder, ROOT))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}${name}`);

/** All that has a name in the declarations, without what comments say. */
const declaredNames = () =>
  [...filesOf('js/', '.d.ts'), ...filesOf('js/adapters/', '.d.ts')].flatMap(
    (file) =>
      read(file)
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
        .match(/[\w$][\w$-]*/g) ?? [],
  );

const API = [...new Set([...optionNames(), ...memberNames(), ...declaredNames()])];

/** What is shipped and can reach for something, by file. */
const SHIPPED = [
  ...[...filesOf('js/', '.js'), ...filesOf('js/adapters/', '.js')],
  'tests/vectors/wasm-imports.txt',
]
  // Players ask with such objects of their own, and theirs are what this file has for its subject.
  .filter((file) => !file.endsWith('/xhr.js'))
  .map((file) => ({ file, text: withoutComments(read(file)).toLowerCase() }));

/** @param {string} code */
function withoutComments(code) {
  return code.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, '');
}

describe('the table of what the browser owns', () => {
  test('R80: has two tables, whose rows are whole', () => {
    assert.equal(TABLES.length, 2);
    for (const row of OWNED) assert.equal(row.filter(Boolean).length, 4, row[0]);
    for (const row of ABSENT) assert.equal(row.filter(Boolean).length, 3, row[0]);
  });

  for (const topic of TOPICS.owned) {
    test(`R80: says of ${topic} why it is out of reach`, () => {
      assert.equal(ROWS.filter(({ what }) => topic.test(what)).length, 1);
    });
  }

  for (const topic of TOPICS.absent) {
    test(`R80: says of ${topic} that there is none of it`, () => {
      assert.equal(ABSENT.filter(([what]) => topic.test(what)).length, 1);
    });
  }

  test('R80: says of no more than is asked for here', () => {
    assert.equal(OWNED.length, TOPICS.owned.length);
    assert.equal(ABSENT.length, TOPICS.absent.length);
  });
});

describe('no such knob', () => {
  for (const { what, named, uses } of ROWS) {
    test(`R80: ${what}`, () => {
      assert.ok(named.length > 0, 'a row without a check');
      for (const word of named) {
        assert.deepEqual(
          API.filter((name) => says(name, word)),
          [],
          `the API says ${word}`,
        );
      }
      for (const word of uses) {
        for (const { file, text } of SHIPPED) {
          assert.ok(!text.includes(word.toLowerCase()), `${file} says ${word}`);
        }
      }
    });
  }

  test('R80: the names are those of options, members and types', () => {
    for (const name of [
      ...['sites', 'segment', 'headersTimeout', 'minRequests', 'fastHalfLife'], // options
      ...['declareAlternatives', 'subscribe'], // members
      ...['FetchBytesInit', 'idempotent', 'playlist-reload', 'hlsConfig', 'shareAcrossTabs'], // types
    ]) {
      assert.ok(API.includes(name), name);
    }
    assert.ok(optionNames().includes('factor'), 'options within options');
    assert.ok(memberNames().includes('reportPlayback'));
    const files = SHIPPED.map(({ file }) => file);
    for (const file of ['js/engine.js', 'js/adapters/hls.js']) assert.ok(files.includes(file));
    assert.ok(SHIPPED.some(({ text }) => text.includes('getrandomvalues')));
  });

  test('R80: a knob would be noticed, however it is written', () => {
    for (const name of ['altSvc', 'useAltSvc', 'ALT_SVC', 'alt-svc', 'AltSvcOptions', 'altSvcs']) {
      assert.ok(says(name, 'alt-svc'), name);
    }
    for (const name of ['http3', 'preferHTTP3', 'http3Only']) assert.ok(says(name, 'http3'), name);
    for (const name of ['maxSockets', 'socket']) assert.ok(says(name, 'socket'), name);
    assert.ok(!says('quickLadder', 'quic'), 'a quick ladder is no QUIC');
    assert.ok(!says('space', 'pac'));
    for (const { named } of ROWS) {
      for (const word of named) {
        const [first, ...rest] = partsOf(word);
        const camel = first + rest.map((it) => it[0].toUpperCase() + it.slice(1)).join('');
        assert.ok(says(camel, word) && says(`use_${camel}`, word), word);
      }
    }
  });
});

test('R80: scheme, host and port of a URL are those that were asked for, at each attempt', async (t) => {
  /** @type {string[]} */
  let asked = [];
  let enough = 2;
  let stop = new AbortController();
  const engine = await engineFor(
    t,
    { attempts: 2, backoff: { base: 1, cap: 1 } },
    {
      fetch: async (input) => {
        asked.push(String(input));
        if (asked.length === enough) queueMicrotask(() => stop.abort());
        return new Response('', { status: 503 });
      },
    },
  );
  engine.setPathways({ other: 'https://other.test' });
  engine.declareAlternatives('segment', 3);
  for (const enabled of [true, false]) {
    engine.enabled = enabled;
    // The small ladder waits for a second before its second attempt.
    enough = enabled ? 2 : 1;
    for (const url of [
      'http://media.test/a.mp4',
      'http://media.test:8080/a.mp4?host=other.test',
      'https://media.test:8443/a.mp4',
      'https://media.test/a.mp4',
      'https://live.media.test/live.m3u8?_HLS_msn=3&_HLS_part=1',
      'https://[::1]:4433/a.mp4',
    ]) {
      asked = [];
      stop = new AbortController();
      await failureOf(engine.load({ url, signal: stop.signal }));
      assert.equal(asked.length, enough, url);
      for (const sent of asked) assert.equal(new URL(sent).origin, new URL(url).origin);
    }
  }
});
