/** Classifies Claude's failures like those of any model, and says what to do about each. */
import { AgentError } from '@atrium/core/contracts/agent.js';
import { modelError } from '../shared/model-errors.js';
import type { ClaudeMessage } from './sdk.js';

export interface FailurePlace {
  readonly displayName: string;
  readonly modelId: string;
  readonly baseURL: string | undefined;
}

const LOGIN = 'Start the host with ANTHROPIC_API_KEY, or run "claude" once on this machine and log in.';

/** The HTTP status that corresponds to each of Claude's own error kinds. */
const STATUS_BY_KIND: Readonly<Record<string, number>> = {
  rate_limit: 429,
  overloaded: 529,
  model_not_found: 404,
};

const AUTH_KINDS: ReadonlySet<string> = new Set([
  'authentication_failed',
  'oauth_org_not_allowed',
  'account_on_hold',
  'verification_required',
  'billing_error',
  'cloud_credential_error',
]);

/** The error of a result; `kind` is Claude's own name for it. */
export function resultError(result: ClaudeMessage, kind: string | undefined, place: FailurePlace): AgentError {
  const message = messageOf(result);
  if (kind !== undefined && AUTH_KINDS.has(kind)) {
    return new AgentError('auth', `${place.displayName} is not logged in. ${LOGIN} (${message})`);
  }
  const statusCode = result.api_error_status ?? STATUS_BY_KIND[kind ?? ''];
  return modelError({ message, ...(statusCode !== undefined && { statusCode }) }, place);
}

/** The error when the program failed or could not be started. */
export function programError(error: unknown, lastWords: string, { displayName }: FailurePlace): AgentError {
  if (error instanceof AgentError) return error;
  const message = error instanceof Error ? error.message : String(error ?? 'it said nothing');
  const said = [message, lastWords].filter((words) => words !== '').join(': ');
  return new AgentError('other', `${displayName} stopped in the middle of the turn. Try again. (${said})`);
}

/** True when Claude no longer knows the conversation, or the message in it. */
export function isLost(result: ClaudeMessage): boolean {
  return (result.errors ?? []).some((error) => /^No (?:conversation|message) found\b/.test(error));
}

function messageOf({ result, errors = [] }: ClaudeMessage): string {
  return result || errors.join('; ') || 'no reason was given';
}
