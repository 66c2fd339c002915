// @ts-check
/**
 * A promise that is settled from outside.
 *
 * @template T
 */
export class Deferred {
  isSettled = false;
  /** @type {T | undefined} what it has resolved with */
  value;

  constructor() {
    /** @type {Promise<T>} */
    this.promise = new Promise((resolve, reject) => {
      /** @param {T} value */
      this.resolve = (value) => {
        if (this.isSettled) return;
        this.isSettled = true;
        this.value = value;
        resolve(value);
      };
      /** @param {unknown} reason */
      this.reject = (reason) => {
        this.isSettled = true;
        reject(reason);
      };
    });
    // Whoever waits is told; that nobody waits is no error.
    this.promise.catch(() => {});
  }
}
