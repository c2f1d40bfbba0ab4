/**
 * The settings of this host: those that clients can change, and those from its files, its environment and its options.
 */
import { type HostSetting, ROOT_CHANNEL, readHostSettings, SETTINGS_METHOD } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { useStore } from '../model/store.js';
import { ConfigFields } from '../sessions/config-fields.js';
import { tell } from '../ui/notices.js';
import { Part } from './part.js';

export function HostSettings() {
  const { link, client } = useHost();
  const { config } = useStore(link.root);
  const items = useHostSettings();
  const change = (values: Readonly<Record<string, unknown>>) =>
    void client
      .dispatch(ROOT_CHANNEL, { type: 'root/configChanged', config: values })
      .catch((error: unknown) => tell(problemText(error)));
  return (
    <>
      {config && Object.keys(config.schema.properties).length > 0 && (
        <Part title="This host, for everybody">
          <div className="choices">
            <ConfigFields config={config} onChange={change} />
          </div>
        </Part>
      )}
      {items.length > 0 && (
        <Part title="Set where the host runs">
          <p className="hint">In its files, its environment or on its command line; it reads them when it starts.</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <div className="host-settings" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Setting</th>
                  <th scope="col">Value</th>
                  <th scope="col">From</th>
                </tr>
              </thead>
              <tbody>
                {items.map((item) => (
                  <Row key={item.key} item={item} />
                ))}
              </tbody>
            </table>
          </div>
        </Part>
      )}
    </>
  );
}

function Row({ item: { key, value, source, from } }: { readonly item: HostSetting }) {
  return (
    <tr className={source === 'default' ? 'is-default' : ''}>
      <th scope="row" className="mono">
        {key}
      </th>
      <td className="mono">{value ?? '–'}</td>
      <td title={from}>{from === undefined ? source : `${source}: ${from}`}</td>
    </tr>
  );
}

function useHostSettings(): readonly HostSetting[] {
  const { client } = useHost();
  const [items, setItems] = useState<readonly HostSetting[]>([]);
  useEffect(() => {
    if (!isAtrium(client)) return;
    let isOver = false;
    client.requestExtension(SETTINGS_METHOD, {}).then(
      (answer) => isOver || setItems(readHostSettings(answer)),
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [client]);
  return items;
}
