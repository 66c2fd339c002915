// @ts-check
/**
 * Single byte ranges of RFC 9110. A header this does not understand is ignored,
 * as the RFC allows: the answer is then the whole file.
 *
 * @param {string | undefined} header
 * @param {number} size of the file
 * @returns {{ from: number, to: number } | 'whole' | 'unsatisfiable'} `to` is exclusive
 */
export function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec((header ?? '').trim());
  if (!match) return 'whole';
  const [, first, last] = match;
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Number(last);
    if (length === 0 || size === 0) return 'unsatisfiable';
    return { from: Math.max(0, size - length), to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return 'whole';
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
