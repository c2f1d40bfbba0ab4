/** Classifies the failures of model servers, and says what to do about each. */
import { AgentError } from '@atrium/core/contracts/agent.js';
import { shownAddress, withoutLogins } from '@atrium/core/util/addresses.js';
import { isRecord } from '@atrium/core/util/shape.js';

/** How much of a server's own words an error message quotes. */
export const SERVER_MESSAGE_MAX_CHARACTERS = 300;
/** How much of them is read to find out what went wrong: some servers send whole pages. */
const SERVER_TEXT_READ_CHARACTERS = 4_000;

type ModelErrorType =
  | 'auth'
  | 'rate-limited'
  | 'overloaded'
  | 'context-overflow'
  | 'network'
  | 'model-not-found'
  | 'other';

export interface ErrorPlace {
  readonly displayName: string;
  readonly modelId: string;
  readonly baseURL: string | undefined;
  /** True when part of the answer had arrived. */
  readonly hasBegun?: boolean;
}

/** Turns any failure of a request into an error that a person can act on. */
export function modelError(error: unknown, place: ErrorPlace): AgentError {
  const cause = lastAttempt(error);
  const own = ownError(cause);
  if (own) return own;
  const status = isRecord(cause) && typeof cause.statusCode === 'number' ? cause.statusCode : undefined;
  const message = messageOf(cause);
  const type = typeOf(cause, status, message);
  return new AgentError(type, `${ADVICE[type](place)}${quoted(message, status)}`);
}

const ADVICE: Readonly<Record<ModelErrorType, (place: ErrorPlace) => string>> = {
  auth: ({ displayName }) => `${displayName} refused the API key. Check the key that this agent is started with.`,
  'rate-limited': ({ displayName }) =>
    `${displayName} accepts no more requests for now. Wait a little, then try again.`,
  overloaded: ({ displayName }) => `${displayName} is overloaded or down. Try again in a minute.`,
  'context-overflow': ({ modelId }) =>
    `The session is too long for ${modelId}. Choose a model with a larger window, or go on in a new session.`,
  network: ({ displayName, baseURL, hasBegun = false }) => {
    if (hasBegun) return `${displayName} broke off in the middle of its answer. Send a message to let it go on.`;
    return `${displayName} cannot be reached${baseURL === undefined ? '' : ` at ${shownAddress(baseURL)}`}. Check that it is running.`;
  },
  'model-not-found': ({ displayName, modelId }) => `${displayName} has no model ${modelId}. Choose another model.`,
  other: ({ displayName }) => `${displayName} failed. Try again; if it keeps failing, look at the server's own log.`,
};

const BY_STATUS: Readonly<Record<number, ModelErrorType>> = {
  401: 'auth',
  403: 'auth',
  404: 'model-not-found',
  408: 'overloaded',
  413: 'context-overflow',
  429: 'rate-limited',
  502: 'overloaded',
  503: 'overloaded',
  504: 'overloaded',
  529: 'overloaded',
};

/** The first match counts. Servers use one status for many things, so their words are checked before it. */
const BY_MESSAGE: readonly (readonly [RegExp, ModelErrorType])[] = [
  [/context[_ ](?:length|window|size)|maximum context|prompt is too long|too many tokens/i, 'context-overflow'],
  [/input(?: is)? too long|token count[^.]*exceeds/i, 'context-overflow'],
  [/model[_ ]not[_ ]found|\bmodel\b.*\b(?:not found|does not exist)/i, 'model-not-found'],
  [/overloaded/i, 'overloaded'],
  [/rate[_ ]limit/i, 'rate-limited'],
  [/invalid[_ ](?:x-)?api[_ -]?key|api key is missing|authentication[_ ]error/i, 'auth'],
];

function typeOf(error: unknown, status: number | undefined, message: string): ModelErrorType {
  // These four statuses are reliable.
  if (status === 401 || status === 403 || status === 429 || status === 529) return BY_STATUS[status] ?? 'other';
  const worded = BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1];
  if (worded) return worded;
  if (status !== undefined && status >= 300) return BY_STATUS[status] ?? 'other';
  return isNetworkError(error) ? 'network' : 'other';
}

const NETWORK = /fetch failed|cannot connect|terminated|socket|network|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|other side/i;

function isNetworkError(error: unknown): boolean {
  for (let at = error; isRecord(at); at = at.cause) {
    if (NETWORK.test(`${messageOf(at)} ${typeof at.code === 'string' ? at.code : ''}`)) return true;
  }
  return false;
}

/** Finds an error of the host itself, however deep the SDK has wrapped it. */
function ownError(error: unknown): AgentError | undefined {
  for (let at = error; isRecord(at); at = at.cause) if (at instanceof AgentError) return at;
  return undefined;
}

/** The error of the last attempt, if there were several. */
function lastAttempt(error: unknown): unknown {
  return isRecord(error) && error.lastError !== undefined ? error.lastError : error;
}

function messageOf(error: unknown): string {
  return allMessagesOf(error).slice(0, SERVER_TEXT_READ_CHARACTERS);
}

function allMessagesOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isRecord(error)) return String(error);
  if (isRecord(error.error)) return allMessagesOf(error.error);
  const words = [error.type, error.code, error.message].filter((word) => typeof word === 'string');
  return error instanceof Error ? error.message : words.join(': ');
}

function quoted(message: string, status: number | undefined): string {
  const words = withoutLogins(message).trim().slice(0, SERVER_MESSAGE_MAX_CHARACTERS);
  const code = status === undefined ? '' : `${status}: `;
  return words === '' ? '' : ` (${code}${words})`;
}
