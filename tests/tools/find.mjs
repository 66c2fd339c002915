// @ts-check
// Where programs are on this machine. Looks at files only, so a look-up costs microseconds.
// Uses nothing but node: modules, because it runs before node_modules exists.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const CHROMIUM_PLACES = [
  '/usr/lib/chromium/chromium',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const CHROMEDRIVER_PLACES = [
  '/usr/lib/chromium/chromedriver',
  '/usr/lib/chromium-browser/chromedriver',
];

/**
 * The full path of the first program of these names on the search path.
 * @param {string | string[]} names
 * @param {string} [searchPath]
 * @returns {string | undefined}
 */
export function findOnPath(names, searchPath = process.env.PATH ?? '') {
  for (const name of [names].flat()) {
    for (const folder of searchPath.split(delimiter)) {
      const candidate = join(folder, name);
      if (folder && isProgram(candidate)) return candidate;
    }
  }
  return undefined;
}

/**
 * Chromium or Chrome; the variable CHROMIUM names another one.
 * @returns {string | undefined}
 */
export function findChromium() {
  return fromVariable('CHROMIUM') ?? findOnPath(CHROMIUM_NAMES) ?? CHROMIUM_PLACES.find(isProgram);
}

/**
 * The WebDriver server of that browser; the variable CHROMEDRIVER names another one.
 * @returns {string | undefined}
 */
export function findChromedriver() {
  return (
    fromVariable('CHROMEDRIVER') ??
    findOnPath('chromedriver') ??
    CHROMEDRIVER_PLACES.find(isProgram)
  );
}

/** @param {string} variable */
function fromVariable(variable) {
  const value = process.env[variable];
  if (!value) return undefined;
  if (!isProgram(value)) throw new Error(`${variable} is set to ${value}, which is not a program.`);
  return value;
}

/** @param {string} path */
export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
