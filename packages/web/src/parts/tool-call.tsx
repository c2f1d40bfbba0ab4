/** A tool call, from the first letter of its input to its result: one quiet line, unless it runs or asks. */
import {
  asksOneOf,
  decisionWords,
  type ToolCallPendingResultConfirmationState,
  type ToolCallRiskAssessment,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import { memo, type ReactNode, useState } from 'react';
import { WorkerLink } from '../chats/worker-link.js';
import { useOpenSession } from '../host/context.js';
import { canAct } from '../host/extensions.js';
import { Words } from '../markdown/markdown.js';
import { useStore } from '../model/store.js';
import { questionsOfTurn } from '../questions/open-questions.js';
import { Icon, type IconName } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { AskedBody } from './asked-body.js';
import { Confirmation } from './confirmation.js';
import { InputView } from './input-view.js';
import { AskedPlan, PlanText, planIn } from './plan-text.js';
import { ReadingGate, useIsNew, useReading, useReadingGate } from './reading.js';
import { ToolContent } from './tool-content.js';
import {
  type CallLook,
  denialOf,
  editCount,
  failureOf,
  isErrorTold,
  isNamedOtherwise,
  lookOf,
  plainText,
  stateWord,
  toolMessage,
} from './tool-words.js';
import { useToolInput } from './use-tool-input.js';

interface Props {
  readonly call: ToolCallState;
  readonly turnId: string;
  readonly isActive: boolean;
}

const MARKS: Readonly<Record<CallLook, IconName>> = {
  asking: 'hand',
  busy: 'ring',
  done: 'check',
  failed: 'close',
  ended: 'stop',
};

export const ToolCall = memo((props: Props) =>
  lookOf(props.call, props.isActive) === 'asking' ? <AskingCall {...props} /> : <QuietCall {...props} />,
);

/** A call that asks. It cannot be folded, so that its input stays visible as long as a person can answer. */
function AskingCall({ call, turnId, isActive }: Props) {
  const { report, reading } = useReadingGate();
  const loaded = useToolInput('toolInput' in call ? call.toolInput : undefined);
  const input = loaded.at === 'here' ? (loaded.text ?? '') : '';
  const key = `${call.toolCallId} ${loaded.at} ${input}`;
  const isNew = useIsNew(key);
  const plan = planIn(call, input);
  return (
    <article className="tool-call is-asking is-open">
      <div className="tool-head">
        <Head call={call} isActive={isActive}>
          {plan === undefined && isNamedOtherwise(call) && (
            <code className="tool-own-name">
              <VisibleText text={call.toolName} />
            </code>
          )}
        </Head>
      </div>
      {call.status === 'pending-confirmation' && (
        <ReadingGate value={report}>
          <RiskNote assessment={call.riskAssessment} />
          {loaded.at !== 'here' ? (
            <MissingInput at={loaded.at} />
          ) : plan === undefined ? (
            <AskedBody key={key} call={call} input={input} />
          ) : (
            <AskedPlan key={key} plan={plan} />
          )}
          <Confirmation
            key={call.toolCallId}
            call={call}
            turnId={turnId}
            asked={input}
            isPlan={plan !== undefined}
            reading={reading}
            isNew={isNew}
          />
        </ReadingGate>
      )}
      {call.status === 'auth-required' && (
        <div className="tool-body">
          <p className="hint">
            {call.auth.description ??
              `${call.auth.resource.resource_name ?? call.auth.resource.resource} wants a token.`}{' '}
            The call goes on when you have signed in.
          </p>
        </div>
      )}
      {call.status === 'pending-result-confirmation' && (
        <ReadingGate value={report}>
          <ToolBody call={call} />
          <ResultConfirmation call={call} turnId={turnId} isAllowed={reading === 'read' && !isNew} />
        </ReadingGate>
      )}
    </article>
  );
}

/** A note instead of an input that is not loaded, or not readable. */
function MissingInput({ at }: { readonly at: 'loading' | 'unknown' }) {
  useReading(at === 'loading' ? 'loading' : 'too-long');
  if (at === 'loading') return null;
  return <p className="tool-body problem">The input of this call cannot be read here.</p>;
}

/** Below this a call counts as risky; 0 is dangerous, 1 is safe. */
const RISKY = 0.5;

/** The host's assessment of the risk, if it has one. */
function RiskNote({ assessment }: { readonly assessment: ToolCallRiskAssessment | undefined }) {
  if (!assessment) return null;
  if (assessment.status === 'loading') return <p className="tool-body hint">The risk is being assessed …</p>;
  const isRisky = assessment.safety < RISKY;
  return (
    <p className={`tool-body ${isRisky ? 'problem' : 'hint'}`}>
      {isRisky ? 'Judged as risky: ' : 'Judged as safe: '}
      <VisibleText text={plainText(assessment.reason)} />
    </p>
  );
}

function QuietCall({ call, isActive }: Props) {
  const session = useOpenSession();
  const { chat } = useStore(session.view);
  const [choice, setChoice] = useState<boolean>();
  // The question is below the conversation, with its choices.
  const isAsked = asksOneOf(call, questionsOfTurn(chat));
  const isShown = !isAsked && (choice ?? (isActive && call.status === 'running'));
  const failure = failureOf(call);
  const denial = denialOf(call);
  const count = editCount(call);
  return (
    <article className={`tool-call is-${lookOf(call, isActive)} ${isShown ? 'is-open' : 'is-folded'}`}>
      <button type="button" className="tool-head" aria-expanded={isShown} onClick={() => setChoice(!isShown)}>
        <Head call={call} isActive={isActive}>
          <span className="tool-message">{isAsked ? 'Its question is below' : <Words text={toolMessage(call)} />}</span>
          {count && (
            <span className="tool-count">
              {count.added > 0 && <span className="added">+{count.added}</span>}{' '}
              {count.removed > 0 && <span className="removed">−{count.removed}</span>}
            </span>
          )}
        </Head>
      </button>
      {!isShown && failure !== '' && <p className="tool-failure">{failure}</p>}
      {!isShown && denial !== '' && (
        <p className="tool-denial hint">
          <VisibleText text={denial} />
        </p>
      )}
      <Workers call={call} />
      {isShown && <ToolBody call={call} />}
    </article>
  );
}

/** The chats that the call has started. */
function Workers({ call }: { readonly call: ToolCallState }) {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.map((block) =>
    block.type === 'subagent' ? <WorkerLink key={block.resource} worker={block} /> : null,
  );
}

interface HeadProps {
  readonly call: ToolCallState;
  readonly isActive: boolean;
  readonly children: ReactNode;
}

function Head({ call, isActive, children }: HeadProps) {
  return (
    <>
      <span className="tool-mark">
        <Icon name={MARKS[lookOf(call, isActive)]} />
      </span>
      <span className="tool-name">
        <VisibleText text={call.displayName} />
      </span>
      {children}
      <span className="tool-state">{stateWord(call, isActive)}</span>
    </>
  );
}

interface ResultConfirmationProps {
  readonly call: ToolCallPendingResultConfirmationState;
  readonly turnId: string;
  /** Whether the page has shown all of the result. */
  readonly isAllowed: boolean;
}

/** The question whether the model may see a result. */
function ResultConfirmation({ call, turnId, isAllowed }: ResultConfirmationProps) {
  const session = useOpenSession();
  const answer = (approved: boolean) =>
    session.dispatch({ type: 'chat/toolCallResultConfirmed', turnId, toolCallId: call.toolCallId, approved });
  if (!canAct(session.client, 'approver')) return null;
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

/** Input and output of a tool call that does not ask for permission. */
function ToolBody({ call }: { readonly call: ToolCallState }) {
  const loaded = useToolInput(call.status === 'streaming' ? call.partialInput : call.toolInput);
  const input = loaded.at === 'here' ? loaded.text : undefined;
  const content = 'content' in call ? call.content : undefined;
  const isDiff = content?.some(({ type }) => type === 'fileEdit');
  const decided = decisionWords(call);
  const plan = planIn(call, input);
  return (
    <div className="tool-body">
      {plan !== undefined && <PlanText plan={plan} />}
      {input !== undefined && plan === undefined && !isDiff && <InputView input={input} />}
      {/* The result of an accepted plan repeats the plan, for the model. */}
      {content && plan === undefined && <ToolContent content={content} input={input} />}
      {call.status === 'completed' && call.error && !isErrorTold(call) && (
        <p className="problem">{call.error.message}</p>
      )}
      {call.status === 'cancelled' && call.reasonMessage && (
        <p className="hint">
          <Words text={call.reasonMessage} />
        </p>
      )}
      {decided !== undefined && (
        <p className="hint tool-decision">
          <VisibleText text={decided} />
        </p>
      )}
    </div>
  );
}
