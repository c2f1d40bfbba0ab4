/** The question whether the model may see a result. */
import type { ToolCallPendingResultConfirmationState } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';

interface Props {
  readonly call: ToolCallPendingResultConfirmationState;
  readonly turnId: string;
  /** Whether all of it has been shown. */
  readonly isAllowed: boolean;
}

export function ResultConfirmation({ call, turnId, isAllowed }: Props) {
  const session = useOpenSession();
  const answer = (approved: boolean) =>
    session.dispatch({ type: 'session/toolCallResultConfirmed', turnId, toolCallId: call.toolCallId, approved });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="confirmation" role="group" aria-label="Permission">
      <p className="question">May the model see this result?</p>
      <div className="buttons">
        <button
          type="button"
          className="primary"
          data-answer="approve"
          disabled={!isAllowed}
          onClick={() => answer(true)}
        >
          Let it see
        </button>
        <button type="button" data-answer="deny" onClick={() => answer(false)}>
          Withhold
        </button>
      </div>
    </div>
  );
}
