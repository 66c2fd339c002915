// @ts-check
// Takes out of wasm-bindgen's glue what the one caller that it has never needs: js/module.js passes
// objects, and only responses of the right type; and a driver is let go of by hand, as its listeners
// would keep it from being collected.

/** Each has to be found once: wasm-bindgen's version is pinned, and another may write otherwise. */
const UNUSED = /** @type {Array<[what: RegExp, instead: string]>} */ ([
  [/if \(Symbol\.dispose\).*\n/, ''],
  // The one closure is the timer's, and the module lets go of it.
  [/const CLOSURE_DTORS = [\s\S]*?\n\}\);\n/, ''],
  [/ *CLOSURE_DTORS\.unregister\(state\);\n/, ''],
  [/ *CLOSURE_DTORS\.register\(real, state, state\);\n/, ''],
  // Texts of panics are blank (blank.mjs), and no other text comes out of the module.
  [/getStringFromWasm0\(arg0, arg1\)/, "'the module gave up'"],
  [/function getStringFromWasm0[\s\S]*?\n\}\n/, ''],
  [/let cachedTextDecoder[\s\S]*?\nfunction decodeText[\s\S]*?\n\}\n/, ''],
  [/ *if \(typeof numBytesDecoded .*\n/, ''],
  // A fresh instance starts when every driver of the one before is given up (js/module.js).
  [/ *if \(this\.__wbg_inst !== undefined [^\n]*\n[^\n]*stale object[^\n]*\n *\}\n/g, ''],
  [/ *Object\.defineProperty\(this, '__wbg_inst'.*\n/, ''],
  [/const DriverFinalization = [\s\S]*?\n\}\);\n/, ''],
  [/ *DriverFinalization\.unregister\(this\);\n/, ''],
  [/ *DriverFinalization\.register\(this, .*\n/, ''],
  [
    /try \{\s+(return await WebAssembly\.instantiateStreaming\(module, imports\);)\s+\} catch[\s\S]*?throw e; \}\s+\}/,
    '$1',
  ],
  [
    /if \(typeof WebAssembly\.instantiateStreaming === 'function'\) \{\s+(return await[^\n]*)\s+\}[\s\S]*?instantiate\(bytes, imports\);/,
    '$1',
  ],
  [/function expectedResponseType[\s\S]*?return false;\s+\}/, ''],
  [
    /if \(module !== undefined\) \{\s+if \(Object[\s\S]*?initSync\(\)`[\s\S]*?\}\s+\}\n/,
    '({ module } = module);\n',
  ],
  [
    /if \(module_or_path !== undefined\) \{\s+if \(Object[\s\S]*?initialization function[\s\S]*?\}\s+\}\n/,
    '({ module_or_path } = module_or_path);\n',
  ],
  [/if \(typeof module_or_path === 'string'[\s\S]*?fetch\(module_or_path\);\s+\}\n/, ''],
]);

/** @param {string} glue @returns {string} */
export function trimGlue(glue) {
  for (const [what, instead] of UNUSED) {
    if (!what.test(glue)) throw new Error(`the glue has changed: nothing in it is like ${what}`);
    glue = glue.replace(what, instead);
  }
  return glue;
}
