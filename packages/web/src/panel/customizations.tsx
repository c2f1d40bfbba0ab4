/** The customizations of the session: plugins and folders, how far each has loaded, and their contents. */
import {
  type ChildCustomization,
  type Customization,
  type CustomizationLoadState,
  isChildEnabled,
  isCustomizationEnabled,
} from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { decidedFor, isProviderEntry, toggled } from '../model/customizations.js';
import { plural } from '../model/format.js';
import { FileEditor } from './file-editor.js';
import { ServerActions, ServerState } from './mcp-server.js';
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

/** An empty folder, which gets no line of its own. */
function isEmptyFolder(item: Customization): boolean {
  if (item.type !== 'directory') return false;
  return (!item.load || item.load.kind === 'loaded') && item.children?.length === 0;
}

function Container({ item }: { readonly item: Customization }) {
  const { id, name } = item;
  const load = 'load' in item ? item.load : undefined;
  const children = 'children' in item ? (item.children ?? []) : [];
  return (
    <li className={isCustomizationEnabled(item) ? '' : 'off'}>
      <div className="entry-head">
        <span className="name">{name}</span>
        <LoadState load={load} />
        {item.type === 'mcpServer' && <ServerState server={item} />}
        <UseSwitch entry={item} />
      </div>
      <OffElsewhere entry={item} />
      {load && 'message' in load && <p className={load.kind === 'error' ? 'problem' : 'hint'}>{load.message}</p>}
      {item.type === 'mcpServer' && <ServerActions server={item} />}
      {children.length > 0 && (
        <details className="fold">
          <summary>{plural(children.length, 'entry').replace('entrys', 'entries')}</summary>
          <ul>
            {children.map((child) => (
              <Child
                key={`${id} ${child.id}`}
                container={item}
                child={child}
                isWritable={item.type === 'directory' && item.writable}
              />
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function UseSwitch({ entry }: { readonly entry: Customization | ChildCustomization }) {
  const session = useOpenSession();
  return (
    <Switch
      label={`Use ${entry.name}`}
      isOn={isCustomizationEnabled(entry)}
      onChange={(isOn) => session.dispatch(toggled(entry, isOn))}
    />
  );
}

function OffElsewhere({ entry }: { readonly entry: Customization | ChildCustomization }) {
  const scope = decidedFor(entry);
  return scope ? <p className="hint">Switched off for {scope}; the switch decides for this session.</p> : null;
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
  readonly container: Customization;
  readonly child: ChildCustomization;
  readonly isWritable: boolean;
}

function Child({ container, child, isWritable }: ChildProps) {
  const [isEditing, setEditing] = useState(false);
  const description = 'description' in child ? child.description : undefined;
  return (
    <li title={description} className={isChildEnabled(container, child) ? '' : 'off'}>
      <span className="tag">{KINDS[child.type] ?? child.type}</span> {child.name}{' '}
      {child.type === 'mcpServer' && <ServerState server={child} />}
      {isWritable && (
        <button type="button" className="quiet small" onClick={() => setEditing(true)}>
          Edit
        </button>
      )}
      {child.type === 'mcpServer' && isCustomizationEnabled(container) && (
        <>
          <UseSwitch entry={child} />
          <OffElsewhere entry={child} />
          <ServerActions server={child} />
        </>
      )}
      {isEditing && <FileEditor uri={child.uri} name={child.name} onClose={() => setEditing(false)} />}
    </li>
  );
}
