export interface HoldfastPluginOptions {
  /** What the paths of SPF's modules have in common; `@videojs/spf/dist/` by default. */
  spf?: RegExp;
}

/** A plugin for Vite, for Rollup, and for webpack. */
export interface HoldfastPlugin {
  name: string;
  enforce: 'pre';
  config(config: unknown, env: { command: string }): { optimizeDeps: { exclude: string[] } };
  resolveId(source: string, importer: string | undefined): string | undefined;
  buildEnd(
    this: { getModuleIds(): Iterable<string>; warn(message: string): void },
    error?: Error,
  ): void;
  /** For webpack, its compiler; for Vite, its configuration, and then always `true`. */
  apply(target: any): boolean;
}

/**
 * Sends the requests of SPF (`@videojs/spf`) through the engine that `useEngine` of `holdfast/spf`
 * names. Warns if SPF's network module is not in the bundle, or is still in it.
 */
export default function holdfast(options?: HoldfastPluginOptions): HoldfastPlugin;
