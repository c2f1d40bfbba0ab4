/** The first thing that people see: a place to say what they want, with the few choices that matter. */
import { useId, useRef, useState } from 'react';
import { useHost } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { useStore } from '../model/store.js';
import { AutoText } from '../ui/auto-text.js';
import { ConfigFields } from './config-fields.js';
import { FolderField } from './folder-field.js';
import { Ideas } from './ideas.js';
import { useNewSession } from './use-new-session.js';

export function Home() {
  const { link } = useHost();
  const { agents } = useStore(link.root);
  const form = useNewSession(agents);
  const ids = { agent: useId(), model: useId() };
  const [text, setText] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  const models = form.agent?.models ?? [];
  const start = () => void form.create(text);
  return (
    <div className="home">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <a className="quiet-link only-phone" href={hashOf({ at: 'home' })}>
          All sessions
        </a>
        <h1>What should we work on?</h1>
        <div className="compose-box">
          <AutoText
            id="home-message"
            ref={input}
            label="First message"
            placeholder="Describe a task, or ask a question. Enter starts the session."
            value={text}
            onChange={setText}
            onEnter={start}
          />
        </div>
        <div className="choices">
          <label htmlFor={ids.agent}>Agent</label>
          <select id={ids.agent} value={form.agent?.provider ?? ''} onChange={(e) => form.chooseAgent(e.target.value)}>
            {agents.map(({ provider, displayName }) => (
              <option key={provider} value={provider}>
                {displayName}
              </option>
            ))}
          </select>
          {models.length > 0 && (
            <>
              <label htmlFor={ids.model}>Model</label>
              <select id={ids.model} value={form.model} onChange={(event) => form.chooseModel(event.target.value)}>
                <option value="">Default of the agent</option>
                {models.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </>
          )}
          <FolderField value={form.folder} onChange={form.chooseFolder} />
          <ConfigFields config={form.config} onChange={form.setConfig} />
        </div>
        {form.problem && (
          <p className="problem" role="alert">
            {form.problem}
          </p>
        )}
        <button type="submit" className="primary" disabled={form.isBusy}>
          {text.trim() === '' ? 'Open an empty session' : 'Start'}
        </button>
      </form>
      <Ideas
        onPick={(idea) => {
          setText(idea);
          input.current?.focus();
        }}
      />
    </div>
  );
}
