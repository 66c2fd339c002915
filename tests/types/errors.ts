// Errors: what can be asked of them, and how they are told apart.
import { HoldfastError, isHoldfastError, OptionsError, RequestError } from 'holdfast';
import type { ErrorCode, FailureClass, Reason, RequestErrorFacts, Site } from 'holdfast';

export function describe(value: unknown): string {
  if (!isHoldfastError(value)) return 'not ours';
  const code: ErrorCode = value.code;
  if (value instanceof RequestError) {
    const kind: FailureClass = value.class;
    const reason: Reason = value.reason;
    const site: Site = value.site;
    const type: string | null | undefined = value.headers?.get('content-type');
    const retryAt: number | undefined = value.retryAt;
    const body: string | undefined = value.body;
    const severity: 'error' | 'warning' | undefined = value.severity;
    void [body, severity, value.refreshError, value.suspectCors, value.holding];
    // @ts-expect-error a verdict is not changed
    value.status = 200;
    return [kind, reason, site, type, retryAt, value.status, value.attempts, value.svta].join();
  }
  if (value instanceof OptionsError) return value.field;
  switch (code) {
    case 'DESTROYED':
    case 'NOT_FOUND':
    case 'STALL':
      return value.message;
    // @ts-expect-error there is no such code
    case 'NOTFOUND':
      return '';
    default:
      return value.name;
  }
}

const facts: RequestErrorFacts = {
  class: 'timeout',
  reason: 'attempts',
  status: 0,
  site: 'segment',
  url: '',
  attempts: 4,
  elapsed: 1,
  svta: 3002,
};
const error: HoldfastError = new RequestError(facts, new TypeError());
const native: Error = error;
void native;
// @ts-expect-error facts are needed
new RequestError();
new HoldfastError('DESTROYED', 'text', { cause: error });
