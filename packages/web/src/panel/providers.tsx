/** Who has plugged something into this session: how far it is trusted, what it brings, and a switch. */
import type { SessionState } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';
import { type ProviderInfo, providerEntry, providersOf } from '../model/customizations.js';
import { plural } from '../model/format.js';
import { Section, Switch } from './section.js';

export function Providers({ state }: { readonly state: SessionState }) {
  const session = useOpenSession();
  const providers = providersOf(state);
  const entryOf = ({ name }: ProviderInfo) => state.customizations?.find((entry) => entry.id === providerEntry(name));
  return (
    <Section title="Providers" count={providers.length}>
      {providers.length === 0 && (
        <p className="hint">
          None. A provider is any program that connects to this host and adds tools, checks or context: a CI watcher, a
          browser tab, a script of twenty lines.
        </p>
      )}
      <ul className="entries">
        {providers.map((provider) => {
          const entry = entryOf(provider);
          return (
            <li key={provider.providerId}>
              <div className="entry-head">
                <span className="name">{provider.name}</span>
                {entry && (
                  <Switch
                    label={`Use ${provider.name}`}
                    isOn={entry.enabled}
                    onChange={(enabled) =>
                      session.dispatch({ type: 'session/customizationToggled', id: entry.id, enabled })
                    }
                  />
                )}
              </div>
              <p className="hint">{describe(provider)}</p>
              {entry?.load && 'message' in entry.load && <p className="problem">{entry.load.message}</p>}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function describe({ trust, tools, hasContext, isAway, instance }: ProviderInfo): string {
  const parts = [
    isAway ? 'reconnecting' : '',
    `trust: ${trust}`,
    tools.length > 0 ? `${plural(tools.length, 'tool')}: ${tools.join(', ')}` : 'no tools',
    hasContext ? 'gives context' : '',
    instance ? `instance ${instance}` : '',
  ];
  return parts.filter(Boolean).join(' · ');
}
