// @ts-check
// Takes out of wasm-bindgen's glue what the one caller that it has never needs: js/module.js passes
// objects, and only responses of the right type; and a driver is let go of by hand, as its listeners
// would keep it from being collected.

/** How the module is started: from a response or from bytes, at once, or once more. */
const STARTING = `let wasmModule, wasm;
function begin(instance) {
    wasm = instance.exports;
    wasm.__wbindgen_start();
    return wasm;
}

async function instantiate(module, imports) {
    if (module instanceof Response) {
        if (!module.ok) {
            throw new Error(\`failed to fetch Wasm: \${module.status} \${module.statusText} fetching '\${module.url}'\`);
        }
        return WebAssembly.instantiateStreaming(module, imports);
    }
    const instance = await WebAssembly.instantiate(module, imports);
    return instance instanceof WebAssembly.Instance ? { instance, module } : instance;
}

/** Throws the instance away and starts a fresh one. For when it has trapped. */
export function renew() {
    return begin(new WebAssembly.Instance(wasmModule, __wbg_get_imports()));
}

export function initSync({ module }) {
    if (wasm) return wasm;
    wasmModule = module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module);
    return renew();
}

export default async function({ module_or_path }) {
    if (wasm) return wasm;
    const { instance, module } = await instantiate(await module_or_path, __wbg_get_imports());
    wasmModule = module;
    return begin(instance);
}
`;

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
  [/ *__destroy_into_raw\(\) \{([\s\S]*?)return ptr;\n *\}\n/, ''],
  [
    /const ptr = this\.__destroy_into_raw\(\);/,
    'const ptr = this.__wbg_ptr;\n        this.__wbg_ptr = 0;',
  ],
  [/(this\.__wbg_ptr = ret;\n) *return this;\n/, '$1'],
  [/let ret;([\s\S]*?)\n *ret = /g, '$1\n        const ret = '],
  // An instance is replaced where that is asked for, and not at the next call.
  [/ *__wbg_call_guard\(\);\n/g, ''],
  [/function __wbg_call_guard\(\) \{[\s\S]*?\n\}\n/, ''],
  [/ *__wbg_\w*reinit_\w+: function\(\) \{[\s\S]*?\n *\},\n/, ''],
  [/let __wbg_reinit_scheduled = false;\n/, ''],
  [/function __wbg_reset_state \(\) \{[\s\S]*?\n\}\n/, ''],
  [/\/\*\*(?:(?!\/\*\*)[\s\S])*?export function renew\(\) \{[\s\S]*?\n\}\n/, ''],
  // Views of the memory are made when they are needed, which is seldom.
  [
    /const ptr0 = passArrayF64ToWasm0\((\w+), wasm\.__wbindgen_malloc\);\s+const len0 = WASM_VECTOR_LEN;([\s\S]*?)ptr0, len0/g,
    '$2passArrayF64ToWasm0($1), $1.length',
  ],
  [
    /function passArrayF64ToWasm0[\s\S]*?\n\}\n/,
    `function passArrayF64ToWasm0(arg) {
    const ptr = wasm.__wbindgen_malloc(arg.length * 8, 8) >>> 0;
    new Float64Array(wasm.memory.buffer).set(arg, ptr / 8);
    return ptr;
}
`,
  ],
  [/let WASM_VECTOR_LEN = 0;\n/, ''],
  [/let cachedFloat64ArrayMemory0[\s\S]*?\n\}\n/, ''],
  [/let cachedUint8ArrayMemory0[\s\S]*?\n\}\n/, ''],
  [/getArrayU8FromWasm0\(arg0, arg1\)/, 'new Uint8Array(wasm.memory.buffer, arg0 >>> 0, arg1)'],
  [/function getArrayU8FromWasm0[\s\S]*?\n\}\n/, ''],
  // What JavaScript says in fewer words.
  [
    /let result;\s+try \{\s+result = (.*)\s+\} catch[\s\S]*?\n *\}\n *const ret = result;/,
    'const ret = $1',
  ],
  [/ *__proto__: null,\n/g, ''],
  [
    /: function\(\) \{ return handleError\(function \((.*)\) \{\n([\s\S]*?)\n( *)\}, arguments\); \}/g,
    ': handleError(($1) => {\n$2\n$3})',
  ],
  [
    /function handleError[\s\S]*?\n\}\n/,
    `function handleError(call) {
    return (...args) => {
        try {
            return call(...args);
        } catch (e) {
            wasm.__wbindgen_exn_store(addToExternrefTable0(e));
        }
    };
}
`,
  ],
  [/: function\((.*)\) \{/g, ': ($1) => {'],
  [/makeMutClosure\(arg0, arg1, (\w+)\)/, 'makeMutClosure(arg0, arg1)'],
  [
    /function (wasm_bindgen__convert__closures_____invoke__\w+)[\s\S]*?\n\}\n([\s\S]*)function makeMutClosure[\s\S]*?\n\}\n/,
    `$2function makeMutClosure(arg0, arg1) {
    let holders = 1;
    const own = wasm;
    const real = () => {
        // A timer of an instance that was given up.
        if (own !== wasm) throw new Error('the module gave up');
        holders++;
        try {
            wasm.$1(arg0, arg1);
        } finally {
            real._wbg_cb_unref();
        }
    };
    real._wbg_cb_unref = () => {
        if (--holders === 0) {
            wasm.__wbindgen_destroy_closure(arg0, arg1);
            arg0 = 0;
        }
    };
    return real;
}
`,
  ],
  [/let __wbg_instance_id = 0;\n/, ''],
  [
    /const offset = table\.grow\(4\);[\s\S]*?\n( *)\},/,
    'const offset = table.grow(4);\n            table.set(0, undefined);\n            [undefined, null, true, false].forEach((value, i) => table.set(offset + i, value));\n$1},',
  ],
  [/let wasmModule, wasmInstance, wasm;\n[\s\S]*$/, STARTING],
]);

/** @param {string} glue @returns {string} */
export function trimGlue(glue) {
  for (const [what, instead] of UNUSED) {
    if (!what.test(glue)) throw new Error(`the glue has changed: nothing in it is like ${what}`);
    glue = glue.replace(what, instead);
  }
  return glue;
}
