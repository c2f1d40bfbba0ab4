/** What people should know about an answer of the model that they cannot see from it. */
import { CALLS_PER_STEP_MAX } from './limits.js';
import type { StepReader } from './step.js';

const BY_REASON: Readonly<Record<string, string>> = {
  length: "The answer was cut off at the model's output limit. Ask it to go on.",
  'content-filter': "The provider's filter ended the answer.",
};

export function noteOn(reader: StepReader): string | undefined {
  const { brokenOff, finishReason = '', calls, isEmpty } = reader;
  if (brokenOff !== undefined) return `${brokenOff} Send a message to let the model go on.`;
  if (calls.length > CALLS_PER_STEP_MAX) {
    return `The model made ${calls.length} calls at once. The first ${CALLS_PER_STEP_MAX} are run; it was told so.`;
  }
  const empty = isEmpty ? 'The model ended without an answer. Send a message to try again.' : undefined;
  return BY_REASON[finishReason] ?? empty;
}
