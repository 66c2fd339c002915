// @ts-check
/** What a server asks to wait (RFC 9110, 10.2.3 and 5.6.7). What is not in the grammar says nothing. */

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/**
 * In milliseconds; NaN for nothing. Policy clamps it later. The response's own `Date`, where it can
 * be read, cancels the skew of the local clock.
 *
 * @param {Pick<Headers, 'get'>} headers
 * @param {number} now the local clock, in milliseconds since 1970
 */
export function retryAfterOf(headers, now) {
  const value = read(headers, 'retry-after');
  if (/^\d+$/.test(value)) {
    return Number(value) < 2 ** 53 / 1000 ? Number(value) * 1000 : NaN;
  }
  const date = timeOf(read(headers, 'date'));
  // A `Date` of 1970 or before is that of a clock that was never set.
  return Math.max(timeOf(value) - (date > 0 ? date : now), 0);
}

/**
 * Without the blanks around it: not every `fetch` takes them off.
 *
 * @param {Pick<Headers, 'get'>} headers
 * @param {string} name
 */
function read(headers, name) {
  const value = headers.get(name) ?? '';
  // A blank is a space or a tab (5.6.3). `trim` knows others, which are in no grammar.
  return /[^\t -~]/.test(value) ? '' : value.trim();
}

/**
 * An HTTP-date in milliseconds since 1970; NaN where it is none.
 *
 * @param {string} value
 */
function timeOf(value) {
  // The two old forms are written as the one of today, which is that of `toUTCString`.
  const fixdate = value
    .replace(
      /^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (..)-(...)-(\d\d) /,
      // More than 50 years ahead would mean the past. From 2020 on no year before 2070 is, and an
      // old one is likelier than one so far ahead.
      (_, name, day, month, year) =>
        `${name.slice(0, 3)}, ${day} ${month} ${year < 70 ? 20 : 19}${year} `,
    )
    .replace(
      /^(...) (...) (..) (\S+) (\d+)$/,
      (_, name, month, day, clock, year) =>
        `${name}, ${day.replace(/^ /, '0')} ${month} ${year} ${clock} GMT`,
    );
  const found = /^..., (..) (...) (\d{4}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60) GMT$/.exec(
    fixdate,
  );
  if (!found) return NaN;
  const [, day, , year, hour, minute, second] = found.map(Number);
  const date = new Date(0);
  // Unlike `Date.UTC`, it takes the years of the first century as they are.
  date.setUTCFullYear(year, MONTHS.indexOf(found[2]) / 3, day);
  // The name of the day is right, and the month has the day, only if the same is written again. A
  // leap second is the second after the one before it, in any minute.
  return fixdate.startsWith(date.toUTCString().slice(0, 11))
    ? date.setUTCHours(hour, minute, second)
    : NaN;
}
