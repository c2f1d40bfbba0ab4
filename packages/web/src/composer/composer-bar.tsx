/** Below the text: the agent, the model and its window on the left, the buttons on the right. */

import {
  type ChatState,
  isPermissionMode,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  modeChange,
  modeIn,
  PERMISSION_MODES,
  type SessionState,
  selectionOf,
} from '@atrium/protocol/ahp-1';
import type { ReactNode } from 'react';
import { useHost } from '../host/context.js';
import { canAct } from '../host/extensions.js';
import type { OpenSession } from '../host/open-session.js';
import { stopTurn } from '../host/turns.js';
import { customAgents } from '../model/customizations.js';
import { short } from '../model/format.js';
import { defaultModelText, type Selection } from '../model/selection.js';
import { useStore } from '../model/store.js';
import { contextUse } from '../model/usage.js';
import { Icon } from '../ui/icons.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
  /** The model and the agent of the next message. */
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  readonly isEmpty: boolean;
  /** The buttons that attach files. */
  readonly attach: ReactNode;
  readonly isEditing: boolean;
  readonly onSend: (isSteering: boolean) => void;
}

export function ComposerBar(props: Props) {
  const { session, state, chat, selection, onSelect, isEmpty, attach, isEditing, onSend } = props;
  const isWorking = chat.activeTurn !== undefined;
  return (
    <div className="compose-bar">
      {attach}
      <div className="compose-choices">
        <ModeChoice session={session} state={state} />
        <ModelChoice state={state} selection={selection} onSelect={onSelect} />
        <ModelOptions state={state} selection={selection} onSelect={onSelect} />
        <AgentChoice state={state} selection={selection} onSelect={onSelect} />
        <ContextMeter state={state} chat={chat} model={selection.model?.id} />
      </div>
      {isWorking && !isEmpty && !isEditing && (
        <button type="button" className="small" title="Ctrl+Enter" onClick={() => onSend(true)}>
          Steer
        </button>
      )}
      {isWorking && (
        <button type="button" className="small stop" title="Alt+." onClick={() => stopTurn(session)}>
          <Icon name="stop" /> Stop
        </button>
      )}
      {!(isWorking && isEmpty) && (
        <button
          type="button"
          className="primary small send"
          title="Enter"
          disabled={isEmpty}
          onClick={() => onSend(false)}
        >
          <Icon name="send" /> {isWorking && !isEditing ? 'Queue' : 'Send'}
        </button>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly state: SessionState;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

/** The mode, which decides what runs without asking. */
function ModeChoice({ session, state: { config } }: Pick<Props, 'session' | 'state'>) {
  if (!config?.schema.properties[MODE_PROPERTY]) return null;
  const mode = modeIn(config.values);
  // What runs without asking, only the owner chooses.
  const isOwner = canAct(session.client, 'owner');
  const offered = PERMISSION_MODES.filter((each) => isOwner || each === 'plan' || each === 'ask' || each === mode);
  const choose = (chosen: string) => {
    if (isPermissionMode(chosen))
      session.dispatch({ type: 'session/configChanged', config: modeChange(chosen, config.values) });
  };
  return (
    <select
      className={mode === 'ask' ? 'bare' : 'bare is-mode'}
      aria-label="Mode"
      title={MODE_TEXTS[mode]}
      value={mode}
      onChange={({ target }) => choose(target.value)}
    >
      {offered.map((each) => (
        <option key={each} value={each}>
          {MODE_LABELS[each]}
        </option>
      ))}
    </select>
  );
}

/** The model of the next turns. */
function ModelChoice({ state, selection, onSelect }: ChoiceProps) {
  const { link } = useHost();
  const agent = useStore(link.root).agents.find(({ provider }) => provider === state.provider);
  const models = agent?.models ?? [];
  const chosen = selection.model?.id ?? '';
  if (models.length === 0) return null;
  return (
    <select
      className="bare"
      aria-label="Model"
      title="The model of the next turns"
      value={chosen}
      onChange={({ target }) => onSelect({ model: { id: target.value } })}
    >
      {chosen === '' && <option value="">{defaultModelText(agent)}</option>}
      {chosen !== '' && !models.some(({ id }) => id === chosen) && <option value={chosen}>{chosen}</option>}
      {models.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The options of the model, such as its reasoning effort. Another model begins without any choice. */
function ModelOptions({ state, selection, onSelect }: ChoiceProps) {
  const { link } = useHost();
  const models = useStore(link.root).agents.find(({ provider }) => provider === state.provider)?.models ?? [];
  const model = models.find(({ id }) => id === selection.model?.id) ?? (selection.model ? undefined : models[0]);
  const config = selection.model?.config ?? {};
  const choose = (name: string, value: string | number | undefined) => {
    const { [name]: _before, ...others } = config;
    const chosen = value === undefined ? others : { ...others, [name]: value };
    if (model) onSelect({ model: { id: model.id, ...(Object.keys(chosen).length > 0 && { config: chosen }) } });
  };
  return Object.entries(model?.configSchema?.properties ?? {}).map(
    ([name, { type, title, description, ...schema }]) => {
      const value = String(config[name] ?? schema.default ?? '');
      if (type === 'string' && schema.enum) {
        return (
          <select
            key={name}
            className="bare"
            aria-label={title}
            title={description ?? title}
            value={value}
            onChange={({ target }) => choose(name, target.value || undefined)}
          >
            <option value="">{title}</option>
            {schema.enum.map((one, index) => (
              <option key={String(one)} value={String(one)}>
                {schema.enumLabels?.[index] ?? String(one)}
              </option>
            ))}
          </select>
        );
      }
      if (type !== 'number') return null;
      return (
        <input
          key={name}
          type="number"
          step="0.1"
          aria-label={title}
          title={description ?? title}
          placeholder={title}
          value={value}
          onChange={({ target }) => choose(name, target.value === '' ? undefined : target.valueAsNumber)}
        />
      );
    },
  );
}

/** The custom agent of the next turns, if the folder or a plugin has any. */
function AgentChoice({ state, selection, onSelect }: ChoiceProps) {
  const agents = customAgents(state.customizations);
  const chosen = selection.agent?.uri ?? '';
  /** The host adds this agent to messages that name none, so a message cannot go without one. */
  const kept = selectionOf(state._meta).agent;
  if (agents.length === 0 && chosen === '') return null;
  const choose = (uri: string) => onSelect({ agent: uri === '' ? undefined : { uri } });
  return (
    <select
      className="bare"
      aria-label="Custom agent"
      title={agents.find(({ uri }) => uri === chosen)?.description ?? 'A custom agent brings its own instructions'}
      value={chosen}
      onChange={({ target }) => choose(target.value)}
    >
      {!kept && <option value="">No custom agent</option>}
      {chosen !== '' && !agents.some(({ uri }) => uri === chosen) && <option value={chosen}>Gone agent</option>}
      {agents.map(({ uri, name }) => (
        <option key={uri} value={uri}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Beyond this share the meter warns that the window is nearly full. */
const HIGH = 0.8;
/** With this radius the share in percent is the length of the line. */
const RADIUS = 100 / (2 * Math.PI);

interface MeterProps {
  readonly state: SessionState;
  readonly chat: ChatState;
  readonly model: string | undefined;
}

/** How full the model's window is: a ring, or only the number if the size of the window is unknown. */
function ContextMeter({ state, chat, model }: MeterProps) {
  const { link } = useHost();
  const use = contextUse({ provider: state.provider, chat, model }, useStore(link.root).agents);
  if (!use) return null;
  const { used, size } = use;
  if (size === undefined) return <span className="context-meter">{short(used)} tokens</span>;
  const share = Math.min(1, used / size);
  const percent = Math.round(share * 100);
  const words = `Context: ${short(used)} of ${short(size)} tokens`;
  return (
    <span className={`context-meter ${share > HIGH ? 'high' : ''}`} title={words}>
      <svg viewBox="0 0 40 40" role="img" aria-label={words}>
        <circle cx="20" cy="20" r={RADIUS} />
        <circle className="used" cx="20" cy="20" r={RADIUS} strokeDasharray={`${percent} 100`} />
      </svg>
      {percent}%
    </span>
  );
}
