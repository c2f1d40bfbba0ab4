/** What has changed: in the folder, in the session, or in one of its turns. */
import type { ChangesetSummary, SessionState } from '@atrium/protocol';
import { useId } from 'react';
import { useOpenSession } from '../host/context.js';
import { useStore } from '../model/store.js';
import { Changeset } from './changeset.js';
import { shownChanges } from './shown-changes.js';
import { turnChoices, wholeViews } from './views.js';
import './changes.css';

export function ChangesPanel({ state }: { readonly state: SessionState }) {
  const session = useOpenSession();
  const id = useId();
  const wanted = useStore(shownChanges);
  const whole = wholeViews(state.summary.changesets);
  const turns = turnChoices(state);
  const uri = wanted?.session === session.uri ? wanted.uri : whole[0]?.uriTemplate;
  if (uri === undefined) return <p className="changes-note hint">Nothing is recorded here yet.</p>;
  const about = whole.find(({ uriTemplate }) => uriTemplate === uri)?.description;
  const isListed = about !== undefined || turns.some((turn) => turn.uri === uri);
  return (
    <div className="changes-panel">
      <div className="changes-choice">
        <select
          aria-label="Which changes"
          aria-describedby={id}
          value={uri}
          onChange={({ target }) => shownChanges.set({ session: session.uri, uri: target.value })}
        >
          {whole.map((entry) => (
            <option key={entry.uriTemplate} value={entry.uriTemplate}>
              {titleOf(entry)}
            </option>
          ))}
          {turns.length > 0 && (
            <optgroup label="One turn">
              {turns.map((turn) => (
                <option key={turn.uri} value={turn.uri}>
                  {turn.label}
                </option>
              ))}
            </optgroup>
          )}
          {!isListed && <option value={uri}>An earlier turn</option>}
        </select>
        <p className="hint" id={id}>
          {about ?? 'What the agent changed in this turn.'}
        </p>
      </div>
      <Changeset key={uri} uri={uri} folder={state.summary.workingDirectory} />
    </div>
  );
}

function titleOf({ label, files }: ChangesetSummary): string {
  return files === undefined ? label : `${label} (${files})`;
}
