/**
 * Assesses a call that waits for a person: a second opinion beside the question, which never answers the question. If a
 * call cannot be assessed, it says so and counts as unsafe; nothing else changes.
 */
import type { ToolCallRiskAssessment } from '@atrium/protocol/ahp-1';
import type { JudgedCall, Judgement } from '../contracts/agent.js';
import { shorten } from '../util/text.js';
import { within } from '../util/waiting.js';
import type { CallContext } from './call-context.js';
import { JUDGEMENT_REASON_MAX_CHARACTERS, JUDGEMENT_TIMEOUT_MS } from './limits.js';

export const ASSESSING: ToolCallRiskAssessment = { kind: 'judge', status: 'loading' };

type AssessmentContext = Pick<CallContext, 'judge' | 'clock' | 'logger' | 'signal' | 'session'>;

/**
 * Calls back with the assessment, unless the returned function was called first because the question has been answered.
 */
export function assess(
  { judge, clock, logger, signal, session }: AssessmentContext,
  call: JudgedCall,
  assessed: (assessment: ToolCallRiskAssessment) => void,
): () => void {
  if (!judge) return () => {};
  const answered = new AbortController();
  const late = (): never => {
    throw new Error(`no answer within ${JUDGEMENT_TIMEOUT_MS / 1_000} s`);
  };
  const own = AbortSignal.any([answered.signal, signal]);
  const judging = within(
    clock,
    JUDGEMENT_TIMEOUT_MS,
    Promise.resolve().then(() => judge(call, own)),
    late,
  );
  judging
    .then(assessmentOf)
    .catch((error): ToolCallRiskAssessment => {
      if (!own.aborted) logger.log('warn', 'a call could not be assessed', { session, error: String(error) });
      return {
        kind: 'judge',
        status: 'complete',
        reason: 'This call could not be assessed. Judge for yourself.',
        safety: 0,
      };
    })
    .then((assessment) => {
      if (!own.aborted) assessed(assessment);
      answered.abort();
    });
  return () => answered.abort();
}

function assessmentOf({ safety, reason }: Judgement): ToolCallRiskAssessment {
  if (!(safety >= 0 && safety <= 1)) throw new Error(`a safety of ${safety} is not between 0 and 1`);
  return { kind: 'judge', status: 'complete', reason: shorten(reason, JUDGEMENT_REASON_MAX_CHARACTERS), safety };
}
