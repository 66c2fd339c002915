// The smallest engine that satisfies the adapter: plain fetch, a fixed ladder, headers and stall limits,
// and a hold where no alternative was declared. For tests of the adapter alone.

const RETRYABLE = new Set([
  'transport',
  'timeout',
  'stall',
  'truncated',
  'server',
  'server-busy',
  'rate-limited',
]);

export class FakeRequestError extends Error {
  name = 'RequestError';
  constructor(fields) {
    super(fields.message ?? fields.code);
    Object.assign(this, fields);
  }
}

/**
 * @param {{ attempts?: number, delay?: number, headersTimeout?: number, stallTimeout?: number, hold?: boolean }} options
 */
export function createFakeEngine(options = {}) {
  const {
    attempts = 3,
    delay = 20,
    headersTimeout = 5000,
    stallTimeout = 5000,
    hold = false,
  } = options;
  const alternatives = new Map();

  async function load(request) {
    let attempt = 0;
    for (;;) {
      attempt++;
      try {
        return await send(request, attempt);
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        const over = attempt >= attempts && !(hold && !alternatives.get(request.site));
        if (!RETRYABLE.has(error.class) || error.released || over) {
          throw Object.assign(error, { site: request.site, url: request.url, attempts: attempt });
        }
      }
      await sleep(delay, request.signal);
    }
  }

  async function send(request, attempt) {
    const { signal, responseType = 'arraybuffer' } = request;
    const controller = new AbortController();
    const cancel = () => controller.abort();
    signal?.addEventListener('abort', cancel);
    let limit = 0;
    let timer;
    const arm = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        limit = ms;
        controller.abort();
      }, ms);
    };
    let response = null;
    let loaded = 0;
    try {
      const start = performance.now();
      request.onAttempt?.({ attempt, at: start });
      arm(headersTimeout);
      const input = request.request ? request.request.clone() : request.url;
      response = await fetch(input, { ...request.init, signal: controller.signal });
      const first = performance.now();
      if (!response.ok) {
        const { status } = response;
        response.body?.cancel().catch(() => {});
        throw new FakeRequestError({
          code: classOf(status),
          class: classOf(status),
          status,
          headers: response.headers,
        });
      }
      request.onResponse?.({ response, at: first });
      const encoded = response.headers.has('content-encoding');
      const total = encoded ? 0 : Number(response.headers.get('content-length')) || 0;
      const chunks = [];
      if (response.body) {
        const reader = response.body.getReader();
        for (;;) {
          arm(stallTimeout);
          const { done, value } = await reader.read();
          if (done) break;
          loaded += value.byteLength;
          if (request.onChunk) request.onChunk(value);
          else chunks.push(value);
          request.onProgress?.({ loaded, total, at: performance.now() });
        }
      }
      const end = performance.now();
      const bytes = await new Blob(chunks).arrayBuffer();
      const text = () => new TextDecoder().decode(bytes);
      const data =
        responseType === 'arraybuffer'
          ? bytes
          : responseType === 'json'
            ? JSON.parse(text())
            : text();
      const { url, status, headers } = response;
      return {
        url,
        status,
        headers,
        response,
        data,
        attempts: attempt,
        timing: { start, first, end },
        bytes: loaded,
      };
    } catch (error) {
      if (error instanceof FakeRequestError) throw error;
      const kind = limit ? (response ? 'stall' : 'timeout') : response ? 'truncated' : 'transport';
      throw new FakeRequestError({
        code: kind,
        class: kind,
        status: response?.status ?? 0,
        response,
        limit: limit || undefined,
        message: error.message,
        released: !!request.onChunk && loaded > 0,
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  return {
    load,
    reportPlayback() {},
    declareAlternatives: (site, count) => void alternatives.set(site, count),
    destroy() {},
  };
}

function classOf(status) {
  if (status === 429) return 'rate-limited';
  if (status === 503) return 'server-busy';
  if (status >= 500) return 'server';
  if (status === 404) return 'not-found';
  if (status === 410) return 'gone';
  if (status === 401 || status === 403) return 'denied';
  return 'contract';
}

function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(undefined);
    }, ms);
    signal?.addEventListener('abort', abort);
  });
}
