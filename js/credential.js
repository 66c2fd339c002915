// @ts-check
/**
 * The credential in an URL, as text: which part it is, when it ends, how another URL gets the new
 * one, and how an URL looks without it. A signature covers bytes, so nothing is decoded, sorted or
 * encoded again: what is not exchanged stays as it was.
 */

/** In characters. A longer URL has no credential here, and only its origin is shown. */
const LONGEST = 16_384;

/** A JWT, or the longer JWE, after something that is not part of a word. */
const JWT = /(^|[^\w-]|%(?:25)*[\dA-F]{2})(eyJ[\w-]{9,}\.([\w-]*)\.[\w-]*(\.[\w-]{16,})*)/;
/**
 * What is a credential whatever stands beside it: by its name, or by a name within its value, as
 * in Akamai's tokens and in an URL within an URL.
 */
const STRONG =
  /(token|jwt|hmac|signature|secret)\w{0,20}(=|%3d).|^(auth(_?key)?|sign?|hdn\w+|aws\.sessionid)=.|^verify=\d{9}/i;
/** What is a signature only if an end stands beside it; alone it may be the hash of a file. */
const WEAK = /^(hash|md5|hs?|st?|secure)=[\w%+/=~-]{16,}$/i;
/** What belongs to a credential that was found, and is none alone. */
const BESIDE =
  /^((e|exp\w*|st|starts)=\d{9,14}$|(policy|key-pair-id|hash-algorithm|keyname|urlprefix|\w+access\w*id|x-(amz|goog)-.+)=.)/i;
/** An end: seconds in up to 11 digits, or milliseconds; also within Akamai's and Google's. */
const END = /(^|[~!=&]|%(7e|21|3d|26))(e|exp\w*|\w*tokenendtime)(=|%3d)(\d{9,14})(?!\d)/i;

/** What no new credential changes: too many viewers or devices, the wrong country. */
const DENIED =
  /(stream|device)_limit|client_(geo|ip)|concurren(t|cy)[^<]{0,30}(limit|stream)|too many[^<]{0,30}(stream|device)|geo.?(block|restrict)|your (country|region)/i;
/** What says that the credential ended, or is not accepted any more. */
const EXPIRED =
  /(token|jwt|signature|policy|url|request|session)[^<]{0,40}expired|expired[^<]{0,20}(token|jwt|signature|url|session)|token_(validation|required)|drm_3031|code\W{1,5}7011/i;

/**
 * @typedef {object} Credential
 * @property {string} key the same for all URLs that carry this credential
 * @property {string[]} parts as they stand in the URL: `name=value`, or a JWT without a name
 * @property {number | undefined} expiresAt in milliseconds since 1970, if it can be read
 */
/** @typedef {'same' | 'not-http' | 'no-place-for-token' | 'not-a-string' | 'empty'} Problem */

/**
 * The credential that is recognised in an URL.
 *
 * @param {string} url
 * @returns {Credential | undefined}
 */
export function credentialOf(url) {
  const parts = piecesOf(url).flatMap(({ part }) => part || []);
  return parts.length
    ? { key: [...parts].sort().join('&'), parts, expiresAt: endOf(parts) }
    : undefined;
}

/**
 * The URL with its credential exchanged as it was from one URL to another. What changed between
 * those two is the credential: query parameters, and segments of the path that have the same
 * place in both. The file's name and the origin are never part of it.
 *
 * @param {string} url
 * @param {string} from what the hook was given
 * @param {string} to what it returned
 * @returns {string | undefined} undefined if it cannot be derived: ask the hook for this URL
 */
export function rewrite(url, from, to) {
  if (url === from) return to;
  if (Math.max(url.length, from.length, to.length) > LONGEST) return undefined;
  const [old, now, own] = [from, to, url].map((text) => {
    const [, origin, path, query, hash] = cut(text);
    return { origin, path: path.split('/'), query: query ? query.slice(1).split('&') : [], hash };
  });
  if (old.origin !== now.origin || old.path.length !== now.path.length) return undefined;
  let isHeld = false;

  for (const [i, segment] of now.path.entries()) {
    if (segment === old.path[i]) continue;
    const isFile = i > Math.min(old.path.length, own.path.length) - 2;
    if (isFile || own.path[i] !== old.path[i]) return undefined;
    own.path[i] = segment;
    isHeld = true;
  }

  const added = now.query.filter((parameter) => !old.query.includes(parameter));
  const left = new Map(added.map((parameter) => [nameOf(parameter), parameter]));
  if (left.size < added.length) return undefined;
  for (const parameter of old.query) {
    if (now.query.includes(parameter)) continue;
    const at = own.query.indexOf(parameter);
    if (at < 0) return undefined;
    const successor = left.get(nameOf(parameter));
    own.query.splice(at, 1, ...(successor === undefined ? [] : [successor]));
    left.delete(nameOf(parameter));
    isHeld = true;
  }
  // The same name with another value is another credential.
  if (own.query.some((parameter) => left.has(nameOf(parameter)))) return undefined;
  // Another origin gets the new credential only if it was given the old one.
  const key = credentialOf(from)?.key;
  const isSame = credentialOf(url)?.key === key;
  if (own.origin !== old.origin && !(key && isSame)) return undefined;
  if (!isHeld && !(left.size && isSame)) return undefined;
  const query = [...own.query, ...left.values()];
  return own.origin + own.path.join('/') + (query.length ? '?' : '') + query.join('&') + own.hash;
}

/**
 * What a hook's answer makes of an URL. An absolute http(s) URL is taken as it is; anything else
 * without whitespace is a bare token, with or without its name, and takes the place of the one
 * recognised value. What looks like a relative URL is refused, for it would end up as a token.
 *
 * @param {string} original
 * @param {unknown} answer
 * @returns {{ url: string, problem?: undefined } | { url?: undefined, problem: Problem }}
 */
export function fresh(original, answer) {
  if (typeof answer !== 'string') return { problem: 'not-a-string' };
  if (!answer.trim()) return { problem: 'empty' };
  let url = answer;
  if (!/^https?:\/\/[^\s/?#]\S*$/i.test(answer)) {
    if (/^[a-z][a-z\d+.-]*:|\s|\?|^\.{0,2}\/.*\.|^#/i.test(answer)) return { problem: 'not-http' };
    const pieces = piecesOf(original);
    const [place, second] = pieces.filter(({ part }) => part);
    const { mark, name, value } = place ?? { name: '', value: '' };
    const old = JWT.exec(value)?.[2] ?? (STRONG.test(`${name}0`) && value);
    if (second || !old) return { problem: 'no-place-for-token' };
    const token = answer.slice(answer.startsWith(name) ? name.length : 0);
    place.value = value.replace(old, () =>
      // Of what has no whitespace: controls, and what would end the parameter or the segment.
      token.replace(/[^!-~\u0080-\uffff]|[#&/]/g, (c) =>
        c === '/' && mark !== c ? c : encodeURIComponent(c),
      ),
    );
    url = textOf(original, pieces);
  }
  return url === original
    ? { problem: 'same' }
    : isSendable(url)
      ? { url }
      : { problem: 'not-http' };
}

/** Whether `fetch` takes this: a whole URL, without a user in it. @param {string} url */
function isSendable(url) {
  try {
    const { username, password } = new URL(url);
    return !username && !password;
  } catch {
    // Outside a page the original may be relative.
    return url.startsWith('/');
  }
}

/**
 * A text without the credential of an URL, as it stands in there or decoded (R57).
 *
 * @param {string} text
 * @param {string} url
 */
export function hide(text, url) {
  for (const part of credentialOf(url)?.parts ?? []) {
    const value = part.slice(part.indexOf('=') + 1);
    let plain = value;
    try {
      plain = decodeURIComponent(value);
    } catch {
      // It stands for itself.
    }
    // What is shorter is no secret, and may be any word.
    if (value.length > 7) text = text.replaceAll(value, '***').replaceAll(plain, '***');
  }
  return text;
}

/**
 * What a refusal says about the credential.
 *
 * @param {object} refusal
 * @param {number} refusal.status
 * @param {string} refusal.url as it was asked for
 * @param {string} [refusal.body] its beginning, of which 8 KiB are looked at
 * @param {number} refusal.now in milliseconds since 1970, by the server's clock where it is known
 * @param {readonly number[]} [refusal.statuses] what may mean that a credential ended
 * @returns {'expired' | 'denied-for-good' | 'none'}
 */
export function evidenceOf({ status, url, body = '', now, statuses = [401, 403] }) {
  if (status === 451) return 'denied-for-good';
  if (!statuses.includes(status)) return 'none';
  const text = body.slice(0, 8192);
  if (DENIED.test(text)) return 'denied-for-good';
  const end = credentialOf(url)?.expiresAt ?? Infinity;
  return end <= now || EXPIRED.test(text) ? 'expired' : 'none';
}

/** What joined is the URL, after the whole: origin, path, query, fragment. @param {string} url */
function cut(url) {
  return /** @type {string[]} */ (
    /^((?:[a-z][\w+.-]*:\/\/[^/?#]*)?)([^?#]*)((?:\?[^#]*)?)(.*)/is.exec(url)
  );
}

/** @param {string} parameter */
function nameOf(parameter) {
  return parameter.split('=', 1)[0];
}

/**
 * The segments of the path and the parameters, each with its mark before it, and with its part
 * of the credential or nothing. A segment may be a list of parameters too.
 *
 * @param {string} url
 */
function piecesOf(url) {
  const [, , path, query] = cut(url.length > LONGEST ? '' : url);
  const pieces = [...path.split(/(?=[/&])/), ...query.split(/(?=&)/)].map((raw) => {
    const [, mark, text, name, value] = /** @type {string[]} */ (
      /^([/?&]?)(((?:[^=]*=)?)(.*))/s.exec(raw)
    );
    return { mark, text, name, value, part: '' };
  });
  const has = (/** @type {RegExp} */ sign) => pieces.some(({ text }) => sign.test(text));
  const weak = has(WEAK) && has(END) ? [WEAK, BESIDE] : [];
  const signs = has(STRONG) || has(JWT) ? [STRONG, JWT, BESIDE] : weak;
  for (const piece of pieces) {
    const { name, text } = piece;
    if (signs.some((sign) => sign.test(text))) {
      piece.part = (!name && JWT.exec(text)?.[2]) || text;
    }
  }
  return pieces;
}

/** @param {string} url @param {ReturnType<typeof piecesOf>} pieces */
function textOf(url, pieces) {
  const [, origin, , , hash] = cut(url);
  return origin + pieces.map(({ mark, name, value }) => mark + name + value).join('') + hash;
}

/** The earliest end, in milliseconds since 1970. @param {string[]} parts */
function endOf(parts) {
  const text = parts.join('&');
  // Amazon's and Google's: when it was signed, and for how many seconds.
  const signed = /x-\w+-date=(\d{8}T\d{6}Z)/i.exec(text)?.[1] ?? '';
  const date = signed.replace(/(....)(..)(.....)(..)/, '$1-$2-$3:$4:');
  const lasts = /x-\w+-expires=(\d{1,9})(?!\d)/i.exec(text)?.[1];
  const seconds = [Date.parse(date) / 1000 + Number(lasts)];
  for (const part of parts) {
    const digits = Number(END.exec(part)?.[5]);
    const jwt = decode(JWT.exec(part)?.[3].replace(/_/g, '/'));
    const policy = decode(/^policy=(.+)/i.exec(part)?.[1].replace(/_/g, '=').replace(/~/g, '/'));
    seconds.push(
      digits < 1e11 ? digits : digits / 1000,
      jwt?.exp,
      policy?.Statement?.[0]?.Condition?.DateLessThan?.['AWS:EpochTime'],
    );
  }
  const end = Math.floor(Math.min(...seconds.filter(Number.isFinite)) * 1000);
  // What a Date can hold.
  return Math.abs(end) <= 8.64e15 ? end : undefined;
}

/** The JSON within base64, or undefined. @param {string} [text] @returns {any} */
function decode(text) {
  if (!text) return undefined;
  try {
    return JSON.parse(atob(text.replace(/-/g, '+')));
  } catch {
    return undefined;
  }
}
