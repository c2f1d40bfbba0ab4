/**
 * The question whether a call may run. Options that the host offers take the place of plain yes and no. The first
 * answer decides,
 * on any device. A person can allow only a text that they have read to its end. While they write advice, the only
 * answer is the
 * denial that carries it.
 */
import {
  alwaysPlaces,
  alwaysScope,
  type ConfirmationOption,
  callPermission,
  permissionWords,
  type ToolCallPendingConfirmationState,
} from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { canAct } from '../host/extensions.js';
import { AutoText } from '../ui/auto-text.js';
import { Icon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { answerAction, optionsOf } from './answer.js';
import { InputEditor } from './input-view.js';
import { ReadBox, type Reading, showUnread, useIsNew } from './reading.js';
import { plainText } from './tool-words.js';

interface Props {
  readonly call: ToolCallPendingConfirmationState;
  readonly turnId: string;
  /** The input of the call. */
  readonly asked: string;
  /** The question is about a plan, and the page shows it as one. */
  readonly isPlan: boolean;
  /** How far the person has read the text. */
  readonly reading: Reading;
  /** The question has just appeared. */
  readonly isNew: boolean;
}

export function Confirmation({ call, turnId, asked, isPlan, reading, isNew }: Props) {
  const session = useOpenSession();
  /** The edited input; undefined while the input is not being edited. */
  const [edited, setEdited] = useState<string>();
  const [advice, setAdvice] = useState<string>();
  /** Where the person clicked to see the lasting answers. */
  const [openedAt, setAlways] = useState<Place>();
  const isAlways = openedAt !== undefined;
  // Answers that also count for later calls need the owner.
  const isOwner = canAct(session.client, 'owner');
  const options = optionsOf(call).filter((option) => isOwner || !isLasting(option));
  if (!canAct(session.client, 'approver')) return <p className="hint">This waits for somebody who may answer.</p>;
  const mayWrite = canAct(session.client, 'driver');
  const deny = options.find(({ kind }) => kind === 'deny');
  const input = edited ?? asked;
  const answer = (option: ConfirmationOption) =>
    session.dispatch(answerAction({ call, turnId, option, asked, input, advice: advice ?? '' }));
  const title = plainText(call.confirmationTitle).trim() || `Let ${call.displayName} run?`;
  const answers = options.filter(({ kind }) => kind === 'deny' || reading !== 'too-long');
  const isOnce = answers.some((option) => option.kind === 'approve' && !isLasting(option));
  // If the only yes is a lasting one, the question shows it directly.
  const lasting = isOnce ? answers.filter((option) => option.kind === 'approve' && isLasting(option)) : [];
  const shown = answers.filter((option) => !lasting.includes(option));
  const isBarred = ({ kind }: ConfirmationOption) => kind === 'approve' && (isNew || reading !== 'read');
  const permission = callPermission(call);
  const words = isPlan ? PLAN_WORDS : CALL_WORDS;
  // A long input needs the room, so the reason is hidden.
  const said =
    !isPlan && permission && asked.length <= SAID_BESIDE_CHARACTERS ? permissionWords(permission) : undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="confirmation" role="group" aria-label="Permission">
      <Question text={title.replace(/\s+/g, ' ')} />
      {said !== undefined && (
        <p className="hint">
          <VisibleText text={said} />
        </p>
      )}
      {edited !== undefined && (
        <>
          <InputEditor input={edited} onChange={setEdited} />
          <p className="hint">{words.instead}</p>
        </>
      )}
      {advice !== undefined && deny ? (
        <Advice
          advice={advice}
          words={words}
          onChange={setAdvice}
          onDeny={() => answer(deny)}
          onBack={() => setAdvice(undefined)}
        />
      ) : (
        <>
          {reading !== 'read' && (
            <p className="hint unread-hint">
              <span role="status">
                {reading === 'unread' || reading === 'unbegun' ? words[reading] : HINTS[reading]}
              </span>
              {/* The end has its own button right above. */}
              {reading === 'unbegun' && (
                <button
                  type="button"
                  className="quiet small"
                  onClick={({ currentTarget }) => showUnread(currentTarget.closest('.tool-call'))}
                >
                  Show the beginning
                </button>
              )}
            </p>
          )}
          <div className="buttons">
            {shown.map((option, index) => (
              <AnswerButton
                key={option.id}
                option={option}
                isFirst={index === 0}
                isDisabled={isBarred(option)}
                onClick={() => answer(option)}
              />
            ))}
            {call.editable && mayWrite && edited === undefined && reading === 'read' && (
              <button type="button" className="quiet" onClick={() => setEdited(asked)}>
                {words.edit}
              </button>
            )}
            {deny && mayWrite && (
              <button type="button" className="quiet" onClick={() => setAdvice('')}>
                {words.advise}
              </button>
            )}
            {lasting.length > 0 && (
              <button
                type="button"
                className="quiet"
                aria-expanded={isAlways}
                onClick={(event) =>
                  setAlways(isAlways ? undefined : { clientX: event.clientX, clientY: event.clientY })
                }
                onKeyDown={({ key }) => key === 'Escape' && setAlways(undefined)}
              >
                Always allow …
              </button>
            )}
          </div>
          {openedAt && lasting.length > 0 && (
            <Always call={call} options={lasting} openedAt={openedAt} isBarred={isBarred} onAnswer={answer} />
          )}
        </>
      )}
    </div>
  );
}

/** The question shows its reason only beside an input shorter than this. */
const SAID_BESIDE_CHARACTERS = 2_000;

/** A longer question must not push the input out of the window. */
const QUESTION_CHARACTERS = 240;

function Question({ text }: { readonly text: string }) {
  const words = (
    <p className="question">
      <VisibleText text={text} />
    </p>
  );
  if (text.length <= QUESTION_CHARACTERS) return words;
  return (
    <ReadBox label="Question" lines={1}>
      {words}
    </ReadBox>
  );
}

interface QuestionWords {
  readonly edit: string;
  readonly instead: string;
  readonly unread: string;
  readonly unbegun: string;
  readonly deny: string;
  readonly advise: string;
  readonly advised: string;
  readonly advice: string;
}

const CALL_WORDS: QuestionWords = {
  edit: 'Edit input',
  instead: 'This runs instead of the input above.',
  unread: 'Read it to the end, then you can allow it.',
  unbegun: 'Its beginning has not been on the screen yet: look at it, then you can allow it.',
  deny: 'Deny',
  advise: 'Deny with advice',
  advised: 'Deny with this advice',
  advice: 'What should it do instead? Enter denies the call and says so.',
};

const PLAN_WORDS: QuestionWords = {
  edit: 'Edit the plan',
  instead: 'This is accepted instead of the plan above.',
  unread: 'Read it to the end, then you can accept it.',
  unbegun: 'Its beginning has not been on the screen yet: look at it, then you can accept it.',
  deny: 'Reject',
  advise: 'Reject with advice',
  advised: 'Reject with this advice',
  advice: 'What should the plan be instead? Enter rejects it and says so.',
};

const HINTS: Readonly<Record<Exclude<Reading, 'read' | 'unread' | 'unbegun'>, string>> = {
  'too-long': 'It is too long to be read here, so it can only be denied: ask for it in smaller steps.',
  loading: 'Reading what would change …',
};

/**
 * True for options that count for later calls. The host marks those of agents; those of its own tools have one known
 * id.
 */
function isLasting(option: ConfirmationOption & { readonly lasting?: boolean }): boolean {
  return option.lasting === true || option.id === 'allow-session' || alwaysScope(option.id) !== undefined;
}

interface AlwaysProps {
  readonly call: ToolCallPendingConfirmationState;
  /** The options that also count for later calls. */
  readonly options: readonly ConfirmationOption[];
  readonly openedAt: Place;
  readonly isBarred: (option: ConfirmationOption) => boolean;
  readonly onAnswer: (option: ConfirmationOption) => void;
}

type Place = Pick<MouseEvent, 'clientX' | 'clientY'>;
/** A key clicks no times, and at no place. */
type Clicked = Place & Pick<MouseEvent, 'detail'>;

/** The same spot of the screen for a hand that does not mean to move. */
const SAME_PLACE_PX = 12;

function isSamePlace(one: Place, other: Place): boolean {
  const [x, y] = [one.clientX - other.clientX, one.clientY - other.clientY];
  return Math.hypot(x, y) <= SAME_PLACE_PX;
}

/** Longer than any double click. */
const DOUBLE_CLICK_MS = 700;

/** The rule that an answer would write, and its places; lasting options of agents in their own words. */
function Always({ call, options, openedAt, isBarred, onAnswer }: AlwaysProps) {
  const places = alwaysPlaces(call);
  // These buttons come up below the pointer: a double click must not take the widest of them.
  const isNew = useIsNew('always', DOUBLE_CLICK_MS);
  const rules = callPermission(call)?.proposes ?? [];
  const writing = options.filter((option) => places.has(option));
  const others = options.filter((option) => !places.has(option));
  const row = (shown: readonly ConfirmationOption[]) => (
    <div className="buttons">
      {shown.map((option) => (
        <AnswerButton
          key={option.id}
          option={option}
          words={places.get(option)}
          isFirst={false}
          isDisabled={isBarred(option)}
          onClick={(at) => !(isNew && at.detail > 0 && isSamePlace(at, openedAt)) && onAnswer(option)}
        />
      ))}
    </div>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="always" role="group" aria-label="Always allow">
      {writing.length > 0 && (
        <>
          <p className="hint">
            Writes the {rules.length === 1 ? 'rule' : 'rules'}{' '}
            {rules.map((rule) => (
              <code key={rule}>
                <VisibleText text={`allow ${rule}`} />
              </code>
            ))}
          </p>
          {row(writing)}
        </>
      )}
      {others.length > 0 && (
        <>
          {/* These do not write the rule above, and allow more than it does. */}
          {writing.length > 0 && <p className="hint">Or more than that, without a rule:</p>}
          {row(others)}
        </>
      )}
    </div>
  );
}

interface AdviceProps {
  readonly advice: string;
  readonly words: QuestionWords;
  readonly onChange: (advice: string) => void;
  readonly onDeny: () => void;
  readonly onBack: () => void;
}

/** The field for advice. Its only answer is a denial. */
function Advice({ advice, words, onChange, onDeny, onBack }: AdviceProps) {
  return (
    <>
      <AutoText
        label="What to do instead"
        placeholder={words.advice}
        isFocused
        value={advice}
        onChange={onChange}
        onEnter={onDeny}
        onKeyDown={({ key }) => key === 'Escape' && onBack()}
      />
      <div className="buttons">
        <button type="button" className="primary" data-answer="deny" onClick={onDeny}>
          {advice.trim() === '' ? words.deny : words.advised}
        </button>
        <button type="button" className="quiet" onClick={onBack}>
          Back to the question
        </button>
      </div>
    </>
  );
}

interface AnswerProps {
  readonly option: ConfirmationOption;
  /** Shorter words for the option, if the text above it says the rest. */
  readonly words?: string | undefined;
  readonly isFirst: boolean;
  readonly isDisabled: boolean;
  readonly onClick: (at: Clicked) => void;
}

const KEYS = { approve: 'Alt+Y', deny: 'Alt+N' } as const;

function AnswerButton({ option: { kind, label }, words, isFirst, isDisabled, onClick }: AnswerProps) {
  return (
    <button
      type="button"
      className={isFirst && kind === 'approve' ? 'primary' : ''}
      data-answer={kind}
      disabled={isDisabled}
      title={`${KEYS[kind]} takes the first of its kind`}
      aria-label={words === undefined ? undefined : label}
      // The second click of a double click may hit another question.
      onClick={(event) => event.detail < 2 && onClick(event)}
    >
      <Icon name={kind === 'approve' ? 'check' : 'close'} /> <VisibleText text={words ?? label} />
    </button>
  );
}
