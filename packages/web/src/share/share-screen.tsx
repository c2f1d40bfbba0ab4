/** The content from another app, and the choice of its session. Sends nothing: the content waits in a message. */
import { type FormEvent, useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { goTo } from '../host/router.js';
import { plural } from '../model/format.js';
import { isArchived } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import './share.css';
import { incoming } from './incoming.js';
import { forgetShared, keptShared, type SharedItems } from './shared-items.js';

/** How many sessions the screen offers; the list has the others. */
const OFFERED_MAX = 20;
const NEW = 'new';

export function ShareScreen() {
  const items = useShared();
  const { link } = useHost();
  const sessions = (useStore(link.sessions) ?? []).filter((session) => !isArchived(session));
  const offered = [...sessions].sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1)).slice(0, OFFERED_MAX);
  const [place, setPlace] = useState(NEW);
  if (items === 'loading') return <div className="share" aria-busy="true" />;
  if (!items)
    return (
      <div className="share">
        <h1>Nothing was shared</h1>
        <p>
          Share a text, a link or a picture with Atrium from another app. It works where Atrium is installed as an app.
        </p>
        <a href="#/">All sessions</a>
      </div>
    );
  const choose = (event: FormEvent) => {
    event.preventDefault();
    void forgetShared();
    incoming.set({ place, text: items.text, files: items.files });
    goTo(place === NEW ? { at: 'new' } : { at: 'session', uri: place });
  };
  return (
    <form className="share" onSubmit={choose}>
      <h1>Shared with Atrium</h1>
      <SharedView items={items} />
      <fieldset>
        <legend>Where should it go?</legend>
        <label className="share-place">
          <input type="radio" name="place" checked={place === NEW} onChange={() => setPlace(NEW)} />
          <span>A new session</span>
        </label>
        {offered.map(({ resource, title }) => (
          <label key={resource} className="share-place">
            <input type="radio" name="place" checked={place === resource} onChange={() => setPlace(resource)} />
            <span>{title || 'Untitled'}</span>
          </label>
        ))}
      </fieldset>
      <p className="hint">It is put into the message there. Nothing is sent before you send it.</p>
      <div className="share-buttons">
        <button type="submit" className="primary">
          Put into the message
        </button>
        <button
          type="button"
          onClick={() => {
            void forgetShared();
            goTo({ at: 'home' });
          }}
        >
          Discard
        </button>
      </div>
    </form>
  );
}

function useShared(): SharedItems | undefined | 'loading' {
  const [items, setItems] = useState<SharedItems | undefined | 'loading'>('loading');
  useEffect(() => {
    keptShared(Date.now()).then(setItems, () => setItems(undefined));
  }, []);
  return items;
}

function SharedView({ items: { text, files, leftOut } }: { readonly items: SharedItems }) {
  return (
    <div className="share-items">
      {text !== '' && <pre>{text}</pre>}
      <ul>
        {files.map((file, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={index}>
            <Thumbnail file={file} /> {file.name}
          </li>
        ))}
      </ul>
      {leftOut > 0 && <p role="status">{plural(leftOut, 'file')} left out: too many, or too large.</p>}
    </div>
  );
}

function Thumbnail({ file }: { readonly file: File }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!/^image\/(png|jpeg|webp|gif)$/.test(file.type)) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url === undefined ? null : <img src={url} alt="" />;
}
