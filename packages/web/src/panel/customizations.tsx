/** What was found for this session: plugins and folders, how far each has loaded, what is inside. */
import type { ChildCustomization, Customization, CustomizationLoadState } from '@atrium/protocol';
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { isProviderEntry } from '../model/customizations.js';
import { plural } from '../model/format.js';
import { FileEditor } from './file-editor.js';
import { Section, Switch } from './section.js';

export function Customizations({ items = [] }: { readonly items: readonly Customization[] | undefined }) {
  const shown = items.filter((item) => !isEmptyFolder(item) && !isProviderEntry(item.id));
  const empty = items.filter(isEmptyFolder);
  return (
    <Section title="Customizations" count={shown.length}>
      {shown.length === 0 && (
        <p className="hint">None. Plugins, skills, rules and prompts of your folder and your account appear here.</p>
      )}
      <ul className="entries">
        {shown.map((item) => (
          <Container key={item.id} item={item} />
        ))}
      </ul>
      {empty.length > 0 && (
        <details className="fold">
          <summary>Looked in {plural(empty.length, 'more folder')}</summary>
          <ul>
            {empty.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  );
}

/** Looked into, and nothing was there: not worth a line of its own. */
function isEmptyFolder({ type, load, children }: Customization): boolean {
  return type === 'directory' && (!load || load.kind === 'loaded') && children?.length === 0;
}

function Container({ item }: { readonly item: Customization }) {
  const session = useOpenSession();
  const { id, name, enabled, load, children } = item;
  return (
    <li className={enabled ? '' : 'off'}>
      <div className="entry-head">
        <span className="name">{name}</span>
        <LoadState load={load} />
        <Switch
          label={`Use ${name}`}
          isOn={enabled}
          onChange={(isOn) => session.dispatch({ type: 'session/customizationToggled', id, enabled: isOn })}
        />
      </div>
      {load && 'message' in load && <p className={load.kind === 'error' ? 'problem' : 'hint'}>{load.message}</p>}
      {children && children.length > 0 && (
        <details className="fold">
          <summary>{plural(children.length, 'entry').replace('entrys', 'entries')}</summary>
          <ul>
            {children.map((child) => (
              <Child key={child.id} child={child} isWritable={item.type === 'directory' && item.writable} />
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

const STATES: Readonly<Record<CustomizationLoadState['kind'], string>> = {
  loading: 'Loading',
  loaded: 'Loaded',
  degraded: 'Partly',
  error: 'Failed',
};

function LoadState({ load }: { readonly load: CustomizationLoadState | undefined }) {
  return load ? <span className={`tag ${load.kind}`}>{STATES[load.kind]}</span> : null;
}

const KINDS: Readonly<Record<string, string>> = { mcpServer: 'MCP server' };

interface ChildProps {
  readonly child: ChildCustomization;
  readonly isWritable: boolean;
}

function Child({ child, isWritable }: ChildProps) {
  const [isEditing, setEditing] = useState(false);
  const description = 'description' in child ? child.description : undefined;
  return (
    <li title={description}>
      <span className="tag">{KINDS[child.type] ?? child.type}</span> {child.name}
      {isWritable && (
        <button type="button" className="quiet small" onClick={() => setEditing(true)}>
          Edit
        </button>
      )}
      {isEditing && <FileEditor uri={child.uri} name={child.name} onClose={() => setEditing(false)} />}
    </li>
  );
}
