/** Classifies an agent's failures, as far as its words allow, and says what to do about each. */
import { AgentError } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';

/** How much of an agent's own words goes into an error message. */
const ERROR_MAX_CHARACTERS = 1_000;

/** The protocol's error code for "log in first". */
const AUTH_REQUIRED = -32_000;

export interface ErrorPlace {
  readonly displayName: string;
  readonly command: string;
  /** The agent's names for its ways to log in. */
  readonly logins: readonly string[];
}

export function acpError(error: unknown, place: ErrorPlace): AgentError {
  if (error instanceof AgentError) return error;
  const message = messageOf(error);
  const isAuth = isRecord(error) && error.code === AUTH_REQUIRED;
  const type = isAuth ? 'auth' : (BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] ?? 'other');
  const quoted = message === '' ? '' : ` (${message})`;
  return new AgentError(type, `${type === 'auth' ? loginAdvice(place) : ADVICE[type](place.displayName)}${quoted}`);
}

type ErrorKind = 'rate-limited' | 'overloaded' | 'context-overflow' | 'network' | 'model-not-found' | 'other';

const ADVICE: Readonly<Record<ErrorKind, (name: string) => string>> = {
  'rate-limited': (name) => `${name} may send no more requests for now. Wait a little, then try again.`,
  overloaded: (name) => `The model behind ${name} is overloaded or down. Try again in a minute.`,
  'context-overflow': (name) => `The session is too long for ${name}. Go on in a new session.`,
  network: (name) => `${name} cannot reach its model. Check the network and the address it uses.`,
  'model-not-found': (name) => `${name} does not have the model that it is set to. Choose another one in its settings.`,
  other: (name) => `${name} failed. Try again; if it keeps failing, look at its own log.`,
};

/** The first match counts. Agents pass on what the model's server says, with or without its status. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorKind | 'auth'])[] = [
  [/context[_ ](?:length|window|size)|maximum context|prompt is too long|too many tokens/i, 'context-overflow'],
  [/\bmodel\b.*\b(?:not found|does not exist)|model[_ ]not[_ ]found/i, 'model-not-found'],
  [/\b429\b|rate[_ -]limit|too many requests|quota/i, 'rate-limited'],
  [/\b(?:502|503|504|529)\b|overloaded|unavailable/i, 'overloaded'],
  [/\b40[13]\b|unauthori[sz]ed|not logged in|log ?in|api[_ -]?key|authenticat/i, 'auth'],
  [/fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|socket|network|connection (?:error|refused|reset)/i, 'network'],
];

function loginAdvice({ displayName, command, logins }: ErrorPlace): string {
  const ways = logins.length === 0 ? '' : ` (it offers: ${logins.join(', ')})`;
  return `${displayName} wants you to log in first${ways}. Run ${command} in a terminal, log in there, and try again.`;
}

/** The message, and what the agent added to it. */
function messageOf(error: unknown): string {
  if (!isRecord(error)) return String(error).slice(0, ERROR_MAX_CHARACTERS);
  const { message, data } = error;
  const added = isRecord(data) ? (data.details ?? data.message ?? data) : data;
  const parts = [message, typeof added === 'object' ? JSON.stringify(added) : added];
  return parts
    .filter((part) => typeof part === 'string' && part !== '')
    .join(': ')
    .slice(0, ERROR_MAX_CHARACTERS);
}
