// @ts-check
/** The loop that whoever streams a body has. @param {Response} response in bytes */
export async function readAll({ body }) {
  let bytes = 0;
  const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes;
    bytes += value.byteLength;
  }
}
