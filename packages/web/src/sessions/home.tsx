/** The first thing that people see: a place to say what they want, with the few choices that matter. */
import { useEffect, useRef } from 'react';
import { NO_DRAFT, useDraft } from '../composer/use-draft.js';
import { useHost } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { useStore } from '../model/store.js';
import { AutoText } from '../ui/auto-text.js';
import { mayTakeFocus } from '../ui/focus.js';
import { Icon } from '../ui/icons.js';
import { ConfigFields } from './config-fields.js';
import { DeletedSessionsButton } from './deleted-sessions.js';
import { FolderField } from './folder-field.js';
import { Ideas } from './ideas.js';
import { NewSessionBar } from './new-session-bar.js';
import { SignIn } from './sign-in.js';
import { useNewSession } from './use-new-session.js';

export function Home() {
  const { link } = useHost();
  const { agents, config } = useStore(link.root);
  const isEmpty = useStore(link.sessions)?.length === 0;
  const form = useNewSession(agents, config?.values.defaultAgent);
  const [draft, setDraft] = useDraft('new');
  const { text } = draft;
  const setText = (next: string) => setDraft({ ...draft, text: next });
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (mayTakeFocus()) field.current?.focus();
  }, []);
  const create = async (first: string) => {
    if (await form.create(first)) setDraft(NO_DRAFT);
  };
  const start = () => {
    if (text.trim() !== '') void create(text);
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
        <div className="compose-box">
          <AutoText
            id="home-message"
            ref={field}
            label="First message"
            placeholder="Describe a task, or ask a question. Enter starts the session."
            value={text}
            onChange={setText}
            onEnter={start}
            onKeyDown={(event) => event.key === 'Escape' && field.current?.blur()}
          />
          <NewSessionBar form={form} agents={agents} isEmpty={text.trim() === ''} />
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
      {/* Where there are no sessions, a phone shows no list. */}
      {isEmpty && <DeletedSessionsButton />}
    </div>
  );
}
