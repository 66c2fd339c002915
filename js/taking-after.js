// @ts-check

/**
 * Gives a response that was made here what it could not be given at its construction.
 *
 * @param {Response} model
 * @param {Response} made
 */
export function takingAfter(model, made) {
  for (const name of /** @type {const} */ (['url', 'redirected', 'type'])) {
    Object.defineProperty(made, name, { value: model[name] });
  }
  return made;
}
