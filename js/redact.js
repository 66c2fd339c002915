// @ts-check
/** URLs as they may be shown (R57). */

/** The value of a parameter, in the query or in a segment: if its name says so, or it is long. */
const SECRET =
  /([?&;/~](?:[^=&/#~]*(?:token|auth|sign?|key|jwt|hmac|pass|secret|credential)[^=&/#~]*=))[^&/#~]*|([?&;/~][^=&/#~?]*=)[^&/#~]{9,}/gi;
/** A JWT anywhere, or a segment of the path that is as long as a hash and no file. */
const TOKEN = /(?:eyJ[\w-]+\.[\w-]*\.[\w-]*)|(\/)[\w-]{32,}(?=\/)/g;

/**
 * The URL for logs, events and errors: `***` in place of whatever may be a credential, of a
 * user's name and password, and of a fragment. It takes rather too much than too little.
 *
 * @param {string} url
 */
export const redact = (url) =>
  url
    .replace(SECRET, '$1$2***')
    .replace(TOKEN, '$1***')
    .replace(/^([^/]+\/\/)[^/?#]*@/, '$1***@')
    .replace(/#.*/s, '#***');
