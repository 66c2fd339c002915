// @ts-check
/**
 * What the engine asks of the embedder about a request, and how the answers find their way back.
 * Nothing here decides; and nothing may throw, as it would unwind through the module.
 */
import { fresh, hide } from './credential.js';
import { Credentials } from './credentials.js';
import { beginning, consult, judge, looks, verdictOf } from './judge.js';

/** So many attempts of a request are kept for its hooks. */
const HISTORY = 32;
/** Ends of a credential that are nearer to each other than this, in milliseconds, are one. */
const SAME = 2000;
/** What the core does not wait for any longer. */
const LATE = 'it gave nothing within 10 s';

/** @typedef {import('./transfer.js').Transfer} Transfer */

/**
 * What is shared with the entry. It is handed in: imported from here and from there it would be a file
 * of its own in most bundles, and one more to load for everybody.
 *
 * @typedef {object} Kit
 * @property {typeof import('./names.js').FACT} FACT
 * @property {typeof import('./names.js').HOOKS} HOOKS
 * @property {typeof import('./errors.js').HoldfastError} HoldfastError
 * @property {typeof import('./errors.js').requestError} requestError
 * @property {typeof import('./records.js').attemptOf} attemptOf
 * @property {typeof import('./attempt.js').attempt} attempt
 */

export class Counsel {
  #call;
  #transfers;
  #hosts;
  #credentials;
  #onAttemptFailed;
  #kit;
  /** The beginnings of refusals as they came. @type {WeakMap<Transfer, string>} */
  #bodies = new WeakMap();

  /**
   * @param {(use: (driver: import('./pkg/core.js').Driver) => boolean | void) => boolean} call
   * @param {Map<number, Transfer>} transfers
   * @param {import('./hosts.js').Hosts} hosts
   * @param {import('./index.d.ts').EngineOptions} options
   * @param {Kit} kit
   */
  constructor(call, transfers, hosts, { refreshScope, onAttemptFailed }, kit) {
    this.#kit = kit;
    this.#call = call;
    this.#transfers = transfers;
    this.#hosts = hosts;
    this.#credentials = new Credentials(refreshScope);
    this.#onAttemptFailed = onAttemptFailed;
  }

  /**
   * @param {number} fact
   * @param {number} subject
   * @param {number} number
   */
  #tell(fact, subject, number, x = 0, y = 0) {
    this.#call((driver) => void driver.tell(fact, subject, number, x, y, 0));
  }

  /**
   * What the detectors say of a refusal, once its beginning is there. Says nothing at once where
   * nobody wants to look.
   *
   * @param {Transfer} transfer
   * @param {number} number of the attempt
   * @param {Response} response
   */
  look(transfer, number, response) {
    const { hooks, id, site } = transfer.request;
    transfer.body = '';
    this.#bodies.delete(transfer);
    if (response.ok || response.status === 304 || !looks(hooks)) return undefined;
    this.#tell(this.#kit.FACT.refusalHead, id, number, performance.now());
    return this.#judge(transfer, response, hooks, site);
  }

  /**
   * @param {Transfer} transfer
   * @param {Response} response
   * @param {import('./hooks.js').Hooks} hooks
   * @param {import('./index.d.ts').Site} site
   */
  async #judge(transfer, response, hooks, site) {
    const { id } = transfer.request;
    const { status, headers } = response;
    this.#credentials.see(response);
    const { url } = transfer;
    const { text: body, response: again } = await beginning(response);
    this.#bodies.set(transfer, body);
    // Some servers repeat the URL.
    transfer.body = hide(hide(body, url), transfer.request.url);
    const facts = Object.freeze({ status, headers, body, site, url });
    const { limit, expiry } = judge(hooks, facts, this.#credentials.now, this.#kit.attempt);
    if (limit && limit.scope !== 'session' && limit.scope !== 'host') {
      this.#hosts.addPrefix(limit.scope);
      for (const { request } of this.#transfers.values()) {
        const prefix = this.#hosts.prefixOf(request.url);
        if (prefix) this.#tell(this.#kit.FACT.prefix, request.id, prefix);
      }
    }
    const isOwn = limit && this.#transfers.has(id);
    const scope = isOwn ? (limit.scope === 'session' ? 1 : limit.scope === 'host' ? 2 : 3) : 0;
    return { response: again, scope, wait: limit?.wait ?? -1, expiry };
  }

  /**
   * An attempt came to nothing.
   *
   * @param {Transfer} transfer
   * @param {number[]} record
   * @param {Response | undefined} response
   */
  failed(transfer, record, response) {
    const { site } = transfer.request;
    const { shown } = transfer;
    const failed = this.#kit.attemptOf(record);
    const delay = transfer.pause;
    transfer.failedAt = performance.now();
    transfer.history = Object.freeze(
      [...transfer.history, Object.freeze({ ...failed, delay })].slice(-HISTORY),
    );
    const facts = {
      ...failed,
      reason: /** @type {const} */ ('attempts'),
      attempts: failed.attempt,
    };
    const { headers } = response ?? {};
    transfer.refreshError =
      failed.class === 'denied' ? this.#credentials.get(transfer.credential)?.error : undefined;
    transfer.error = () =>
      this.#kit.requestError({
        ...facts,
        ...{ site, url: shown, headers, elapsed: performance.now() - transfer.startedAt },
        body: transfer.body,
      });
    const onAttemptFailed = this.#onAttemptFailed;
    if (!onAttemptFailed) return;
    const event = Object.freeze({
      ...failed,
      ...{ site, url: shown, host: transfer.request.host, at: performance.now() },
    });
    this.#kit.attempt(() => onAttemptFailed(event));
  }

  /**
   * A hook is asked.
   *
   * @param {Transfer} transfer
   * @param {number} hook
   * @param {number} number
   */
  ask(transfer, hook, number) {
    const { id } = transfer.request;
    const answer = (/** @type {number} */ code, delay = 0) => {
      this.#tell(this.#kit.FACT.answer, id, number, code, delay);
    };
    const { shouldRetry, refreshLicenseRequest } = transfer.request.hooks;
    const kind = this.#kit.HOOKS[hook];
    if (kind === 'should-retry' && shouldRetry) {
      consult(
        () => shouldRetry(transfer.error(), transfer.attempts, transfer.history),
        (said) => answer(...verdictOf(said)),
      );
    } else if (kind === 'refresh-license' && refreshLicenseRequest) {
      const { url } = transfer;
      const { init, input } = transfer.request;
      const headers = init.headers ?? (input instanceof Request ? input.headers : undefined);
      transfer.refreshError = new this.#kit.HoldfastError(
        'REFRESH_FAILED',
        `refreshLicenseRequest: ${LATE}`,
      );
      consult(
        () =>
          refreshLicenseRequest(
            { url, headers: new Headers(headers), body: init.body ?? null },
            this.#context(transfer, url),
          ),
        (said, error) => answer(this.#license(transfer, said, error) ? 2 : 1),
        true,
      );
    } else answer(0);
  }

  /**
   * A license request is sent with what the hook said from now on.
   *
   * @param {Transfer} transfer
   * @param {unknown} said
   * @param {unknown} error
   */
  #license(transfer, said, error) {
    const { request } = transfer;
    if (typeof said !== 'object' || said === null) {
      transfer.refreshError =
        error ??
        new this.#kit.HoldfastError('REFRESH_FAILED', 'refreshLicenseRequest gave no request');
      return false;
    }
    const {
      url = transfer.url,
      headers = request.init.headers,
      body = request.init.body,
    } = /** @type {import('./index.d.ts').LicenseRequest} */ (said);
    if (!/^https?:/i.test(url)) {
      transfer.refreshError = new this.#kit.HoldfastError(
        'REFRESH_FAILED',
        'refreshLicenseRequest must give an absolute http(s) url',
      );
      return false;
    }
    request.init = { ...request.init, headers, body };
    transfer.refreshError = undefined;
    transfer.readdress(url, this.#call, request.init);
    return true;
  }

  /**
   * A fresh credential is asked for.
   *
   * @param {number} place of the credential
   * @param {Transfer | undefined} transfer that needs it, unless it is ahead of time
   * @param {number} number
   * @param {import('./hooks.js').Hooks} usual the hooks of requests that nobody waits for
   */
  refresh(place, transfer, number, usual) {
    const credential = this.#credentials.get(place);
    const refreshPlaybackToken = (transfer?.request.hooks ?? usual).refreshPlaybackToken;
    const original = transfer?.url ?? credential?.url;
    if (!refreshPlaybackToken || original === undefined) {
      this.#tell(this.#kit.FACT.refreshed, place, number, 0);
      return;
    }
    const context = this.#context(transfer, original);
    // Until there is another: the core waits so long and no longer.
    credential.error = new this.#kit.HoldfastError(
      'REFRESH_FAILED',
      `refreshPlaybackToken: ${LATE}`,
    );
    if (transfer) transfer.refreshError = credential.error;
    consult(
      () => refreshPlaybackToken(original, context),
      (said, error) => this.#refreshed(credential, original, number, said, error),
      true,
    );
  }

  /**
   * @param {import('./credentials.js').Credential} credential
   * @param {string} original
   * @param {number} number
   * @param {unknown} said
   * @param {unknown} error
   */
  #refreshed(credential, original, number, said, error) {
    const { url, problem } = fresh(original, said);
    const { number: place } = credential;
    const waiting = [...this.#transfers.values()].filter(({ credential: of }) => of === place);
    if (url === undefined) {
      const refreshError =
        error ??
        new this.#kit.HoldfastError('REFRESH_FAILED', `refreshPlaybackToken: ${PROBLEMS[problem]}`);
      credential.error = refreshError;
      for (const transfer of waiting) transfer.refreshError = refreshError;
      this.#tell(this.#kit.FACT.refreshed, place, number, 0);
      return;
    }
    this.#credentials.exchange(credential, original, url);
    for (const transfer of waiting) {
      transfer.refreshError = undefined;
      const own = this.#credentials.exchanged(credential, transfer.url);
      if (own !== undefined) transfer.readdress(own, this.#call);
      else {
        transfer.credential = this.#credentials.alone(transfer.url).number;
        this.#tell(this.#kit.FACT.reassign, transfer.request.id, transfer.credential);
      }
    }
    this.#tell(this.#kit.FACT.refreshed, place, number, 1);
    this.tellExpiry(credential);
  }

  /** Finds the credential of a request's URL, and puts in what has replaced it. @param {Transfer} transfer */
  dress(transfer) {
    const { credential, url } = this.#credentials.place(transfer.url);
    transfer.credential = credential.number;
    if (url !== transfer.url) transfer.readdress(url);
    return credential;
  }

  /** @param {import('./credentials.js').Credential} credential */
  tellExpiry(credential) {
    const { number, expiresAt, told } = credential;
    if (expiresAt === undefined) return;
    const at = Math.max(performance.now() + expiresAt - this.#credentials.now, 0);
    this.#call((driver) => {
      // The clocks differ a bit each time; the same again would put off what is due ahead of it.
      if (told?.driver === driver && Math.abs(at - told.at) < SAME) return;
      credential.told = { driver, at };
      driver.tell(this.#kit.FACT.expiry, number, 0, at, 0, 0);
    });
  }

  /** @param {Transfer | undefined} transfer @param {string} url */
  #context(transfer, url) {
    const error = transfer?.error?.();
    return Object.freeze({
      url,
      site: transfer?.request.site,
      status: error?.status ?? 0,
      headers: error?.headers,
      body: (transfer && this.#bodies.get(transfer)) ?? '',
      attempt: transfer?.attempts ?? 0,
      evidence: transfer?.failedAt ? 'refused' : 'expiring',
      signal: transfer?.request.signal ?? undefined,
    });
  }
}

/** @type {Record<import('./credential.js').Problem, string>} */
const PROBLEMS = {
  same: 'it gave the same URL',
  'not-http': 'it gave no absolute http(s) URL',
  'no-place-for-token': 'it gave a bare token, but the URL has no place for one',
  'not-a-string': 'it gave no string',
  empty: 'it gave nothing',
};
