/** Classifies Copilot's failures, with the error types of all agents. */

import { AgentError } from '@atrium/core/contracts/agent.js';
import { errorText } from '@atrium/core/util/text.js';
import { type ErrorPlace, modelError } from '../shared/model-errors.js';
import type { ModelFailure, SdkError } from './sdk.js';

export const LOG_IN =
  'Copilot is not logged in. Log in with the Copilot CLI (copilot login), start the host with a token in ' +
  'COPILOT_GITHUB_TOKEN, or give this agent a model server of its own.';

export const TOKEN_REFUSED = 'GitHub does not take this token, or cannot be reached. Get another one, or try again.';

/** The runtime's messages for a server that did not answer. */
const NETWORK = /native model HTTP request|error sending request|connection (?:refused|reset|closed)|no response was/i;
const TOKEN_FAILED = /session authentication failed/i;
const NO_LOGIN = /No GitHub OAuth token|not authenticated|not logged in/i;

export function copilotError({ message, statusCode, errorType }: SdkError, place: ErrorPlace): AgentError {
  if (NO_LOGIN.test(message)) return new AgentError('auth', LOG_IN);
  if (statusCode === undefined && NETWORK.test(message)) return networkError(message, place);
  const status = statusCode ?? STATUS_BY_TYPE[errorType ?? ''];
  return modelError({ message, ...(status !== undefined && { statusCode: status }) }, place);
}

/** The error of one failed request, before the runtime gives up. */
export function failureError(failure: ModelFailure, place: ErrorPlace): AgentError {
  const message = failure.errorMessage ?? 'The request failed.';
  if (failure.failureKind === 'transport') return networkError(message, place);
  const { statusCode } = failure;
  return copilotError({ message, ...(statusCode !== undefined && { statusCode }) }, place);
}

/** The error for a failure of the runtime itself, without the secret that its message may contain. */
export function runtimeError(error: unknown, secret = ''): AgentError {
  if (error instanceof AgentError) return error;
  const said = errorText(error);
  const message = secret === '' ? said : said.replaceAll(secret, '[hidden]');
  if (TOKEN_FAILED.test(message)) return new AgentError('auth', TOKEN_REFUSED);
  if (NO_LOGIN.test(message)) return new AgentError('auth', LOG_IN);
  return new AgentError('other', `The Copilot runtime failed. Try again. (${message})`);
}

const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  authentication: 401,
  authorization: 403,
  quota: 429,
  rate_limit: 429,
  context_limit: 413,
};

function networkError(message: string, place: ErrorPlace): AgentError {
  return modelError(new Error(`network: ${message}`), place);
}
