// @ts-check
/** URLs as they may be shown (R57). */

const SECRET = /token|auth|sig|key|jwt|hmac|pass|secret|credential/i;
/** A JWT, or a segment of the path that is a long mix of letters and digits, or as long as a hash. */
const TOKEN =
  /(^|%2f|[^\w-])eyJ[\w-]+\.[\w.-]*|(\/)(?:(?=[a-z_]*\d)(?=[\d_]*[a-z])\w{16,}(?=[/?#]|$)|[\w-]{32,}(?=\/))/gi;

/** A value is hidden if its name says so, or if it is long. @type {(...parts: string[]) => string} */
const hide = (pair, name, value) => (value.length > 8 || SECRET.test(name) ? `${name}***` : pair);

/**
 * The URL for logs, events and errors: `***` in place of whatever may be a credential, of a
 * user's name and password, and of a fragment. It takes rather too much than too little.
 *
 * @param {string} url
 */
export const redact = (url) =>
  url
    .replace(/\?[^#]*/, (query) => query.replace(/([?&][^=?&]*=)([^&]*)/g, hide))
    // A segment of the path may be a list of parameters too.
    .replace(/([;/~&][^=;/~&?#]*=)([^/&?#]*)/g, hide)
    .replace(TOKEN, '$1$2***')
    .replace(/^([^/]+\/\/)[^/?#]*@/, '$1***@')
    .replace(/#.*/s, '#***');
