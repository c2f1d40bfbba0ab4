/** The providers of this session: the trust of each, its contributions, and a switch. */
import { isCustomizationEnabled, type SessionState } from '@atrium/protocol/ahp-1';
import { useOpenSession } from '../host/context.js';
import { type ProviderInfo, providerEntry, providersOf, toggled } from '../model/customizations.js';
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
          const load = entry && 'load' in entry ? entry.load : undefined;
          const problem = load && 'message' in load ? load.message : undefined;
          return (
            <li key={provider.providerId}>
              <div className="entry-head">
                <span className="name">{provider.name}</span>
                {entry && (
                  <Switch
                    label={`Use ${provider.name}`}
                    isOn={isCustomizationEnabled(entry)}
                    onChange={(isOn) => session.dispatch(toggled(entry, isOn))}
                  />
                )}
              </div>
              <p className="hint">{describe(provider)}</p>
              {problem !== undefined && <p className="problem">{problem}</p>}
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
