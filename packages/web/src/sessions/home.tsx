/** The start page: a field for the task, and the important choices. */
import type { AgentInfo } from '@atrium/protocol/ahp-1';
import { type ReactNode, useEffect, useRef } from 'react';
import { AttachButtons, AttachNotes, pastedInto, useDrop } from '../attachments/attach-button.js';
import { AttachmentList } from '../attachments/attachment-list.js';
import { useAttaching, withAttachment, withoutAttachment } from '../attachments/use-attaching.js';
import { CompletionList } from '../composer/completion-list.js';
import { folderCompletions, NO_COMPLETIONS, useCompletions } from '../composer/use-completions.js';
import { NO_DRAFT, useDraft } from '../composer/use-draft.js';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { hashOf } from '../host/router.js';
import { uriOf } from '../model/format.js';
import { defaultModelText } from '../model/selection.js';
import { useStore } from '../model/store.js';
import { useIncoming } from '../share/incoming.js';
import { AutoText } from '../ui/auto-text.js';
import { canTakeFocus } from '../ui/focus.js';
import { Icon } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { ConfigFields } from './config-fields.js';
import { DeletedSessionsButton } from './deleted-sessions.js';
import { FolderField } from './folder-field.js';
import { SignIn } from './sign-in.js';
import { isStartCommand, runStartCommand } from './start-commands.js';
import { type NewSession, useNewSession } from './use-new-session.js';

export function Home({ onImport }: { readonly onImport: () => void }) {
  const { link, client } = useHost();
  const { agents, config } = useStore(link.root);
  const isEmpty = useStore(link.sessions)?.length === 0;
  const form = useNewSession(agents, config?.values.defaultAgent);
  const [{ text, attachments }, changeDraft] = useDraft('new');
  const attaching = useAttaching(client, attachments, (change) =>
    changeDraft((before) => ({ attachments: change(before.attachments) })),
  );
  const takesFiles = useDrop(attaching);
  const isBlank = text.trim() === '' && attachments.length === 0;
  const setText = (next: string) => changeDraft({ text: next });
  useIncoming('new', { text, write: setText, attach: (files) => attaching.add(files) });
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (canTakeFocus()) field.current?.focus();
  }, []);
  const folder = uriOf(form.folder);
  const completions = useCompletions(
    {
      client,
      source: folder !== undefined && isAtrium(client) ? folderCompletions(folder) : NO_COMPLETIONS,
      field,
      facts: { models: form.agent?.models ?? [], model: form.model || undefined },
      offers: isStartCommand,
    },
    text,
    (next, attachment) =>
      changeDraft((before) => ({
        text: next,
        ...(attachment && { attachments: withAttachment(before.attachments, attachment) }),
      })),
  );
  const create = async (first: string) => {
    if (await form.create(first, attachments)) changeDraft(NO_DRAFT);
  };
  const start = () => {
    const done = runStartCommand(text, { form, write: setText });
    if (done?.note !== undefined) tell(done.note);
    if (!done && !isBlank && attaching.pending.length === 0) void create(text);
  };
  return (
    <div className="home">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <a className="quiet-link only-phone" href={hashOf({ at: 'home' })}>
          <Icon name="back" /> All sessions
        </a>
        <h1>What should we work on?</h1>
        <AttachNotes
          attaching={attaching}
          attachments={attachments}
          agent={form.agent}
          model={form.model || undefined}
        />
        <div className={`compose-box ${takesFiles ? 'takes-files' : ''}`}>
          <CompletionList completions={completions} />
          <AttachmentList
            items={attachments}
            pending={attaching.pending}
            onRemove={(item) => changeDraft((before) => ({ attachments: withoutAttachment(before.attachments, item) }))}
          />
          <AutoText
            id="home-message"
            ref={field}
            label="First message"
            placeholder="Describe a task, or ask a question. Enter starts the session."
            value={text}
            onChange={setText}
            onEnter={start}
            onPaste={(event) => pastedInto(attaching, event)}
            onKeyDown={(event) => {
              if (completions.pressed(event)) event.preventDefault();
              else if (event.key === 'Escape') field.current?.blur();
            }}
            list={
              completions.items.length > 0
                ? { id: completions.id, option: `${completions.id}-${completions.chosen}` }
                : undefined
            }
          />
          <NewSessionBar
            form={form}
            agents={agents}
            isEmpty={isBlank || attaching.pending.length > 0}
            attach={<AttachButtons attaching={attaching} />}
          />
        </div>
        <div className="choices">
          <FolderField value={form.folder} onChange={form.chooseFolder} />
          <ConfigFields config={form.config.state} onChange={form.config.set} lookUp={form.config.lookUp} />
        </div>
        <SignIn needed={form.needed} onDone={() => void create(text)} />
        {form.problem && (
          <p className="problem" role="alert">
            {form.problem}
          </p>
        )}
      </form>
      <Ideas
        agents={agents}
        onEmpty={() => void form.create('')}
        onPick={(idea) => {
          setText(idea);
          field.current?.focus();
        }}
      />
      {isAtrium(client) && (
        <button type="button" className="quiet small" onClick={onImport}>
          <Icon name="down" /> Bring sessions from Claude Code, Codex or opencode
        </button>
      )}
      {/* Without sessions, a phone shows no list that would have this button. */}
      {isEmpty && <DeletedSessionsButton />}
    </div>
  );
}

interface NewSessionBarProps {
  readonly form: NewSession;
  readonly agents: readonly AgentInfo[];
  readonly isEmpty: boolean;
  readonly attach: ReactNode;
}

/** Below the first message: the agent, the model, and the button that starts. */
function NewSessionBar({ form, agents, isEmpty, attach }: NewSessionBarProps) {
  const models = form.agent?.models ?? [];
  return (
    <div className="compose-bar">
      {attach}
      <div className="compose-choices">
        <select
          className="bare"
          aria-label="Agent"
          title={form.agent?.description ?? 'Who does the work'}
          value={form.agent?.provider ?? ''}
          onChange={({ target }) => form.chooseAgent(target.value)}
        >
          {agents.length === 0 && <option value="">No agent</option>}
          {agents.map(({ provider, displayName }) => (
            <option key={provider} value={provider}>
              {displayName}
            </option>
          ))}
        </select>
        {models.length > 0 && (
          <select
            className="bare"
            aria-label="Model"
            value={form.model}
            onChange={({ target }) => form.chooseModel(target.value)}
          >
            <option value="">{defaultModelText(form.agent)}</option>
            {models.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <button type="submit" className="primary small" disabled={isEmpty || form.isBusy}>
        <Icon name="send" /> {form.isBusy ? 'Starting' : 'Start'}
      </button>
    </div>
  );
}

const IDEAS = [
  'What can you do?',
  'List the files here and say what this project is.',
  'What changed since the last commit?',
];

/** The agent that comes with the host. */
const WITHOUT_MODEL = 'offline';

interface IdeasProps {
  readonly agents: readonly AgentInfo[];
  readonly onPick: (idea: string) => void;
  /** Begins a session without a first message. */
  readonly onEmpty: () => void;
}

/** For newcomers: what to try, and what is special. */
function Ideas({ agents, onPick, onEmpty }: IdeasProps) {
  const hasOthers = agents.some(({ provider }) => provider !== WITHOUT_MODEL);
  return (
    <section className="ideas" aria-label="Things to try">
      <ul>
        {IDEAS.map((idea) => (
          <li key={idea}>
            <button type="button" className="quiet small" onClick={() => onPick(idea)}>
              {idea}
            </button>
          </li>
        ))}
        <li>
          <button type="button" className="quiet small" onClick={onEmpty}>
            Open an empty session
          </button>
        </li>
      </ul>
      {!hasOthers && (
        <p className="hint">
          No model is connected yet. The agent that is here shows how things work; <code>npx atrium agents</code>, on
          the machine of the host, says how to get a real one.
        </p>
      )}
      <p className="hint">
        The session lives in the host, not in this page. Close the tab, open it on your phone, answer from there: it is
        the same session everywhere.
      </p>
    </section>
  );
}
