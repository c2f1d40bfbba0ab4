/** The devices of this host: when and from where each last connected, and a way to add another one. */
import {
  CHANGE_DEVICE_METHOD,
  DEVICES_CHANGED_METHOD,
  DEVICES_METHOD,
  type Device,
  type DeviceList,
  REMOVE_DEVICE_METHOD,
  readDevices,
} from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';
import { VisibleText } from '../ui/visible-text.js';
import { AddDevice } from './add-device.js';
import { ChangeDevice } from './change-device.js';
import './devices.css';

export function DevicesDialog({ onClose }: { readonly onClose: () => void }) {
  const devices = useDevices();
  return (
    <Dialog title="Devices" className="devices" onClose={onClose}>
      {devices.problem !== undefined ? (
        <p>{devices.problem}</p>
      ) : (
        <>
          <AddDevice count={devices.list?.items.length} />
          <h3>Let in</h3>
          {devices.list?.items.length === 0 && <p className="hint">No devices yet. On this machine you need none.</p>}
          <ul className="device-list" aria-label="Devices">
            {devices.list?.items.map((device) => (
              <DeviceRow key={device.id} device={device} isSelf={device.id === devices.list?.self} />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

function DeviceRow({ device, isSelf }: { readonly device: Device; readonly isSelf: boolean }) {
  const { client } = useHost();
  const [doing, setDoing] = useState<'rename' | 'change' | 'remove'>();
  const [name, setName] = useState(device.name);
  const ask = (method: string, params: object) => {
    setDoing(undefined);
    client.requestExtension(method, { id: device.id, ...params }).catch((error: unknown) => tell(problemText(error)));
  };
  return (
    <li>
      <div>
        {doing === 'rename' ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              ask(CHANGE_DEVICE_METHOD, { name });
            }}
          >
            <input
              aria-label={`New name of ${device.name}`}
              // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
              autoFocus
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
            <button type="submit" className="small">
              Save
            </button>
          </form>
        ) : (
          <strong>
            <VisibleText text={device.name} />
          </strong>
        )}{' '}
        <span className="hint">
          {device.role}
          {isSelf && ', this device'}
          {device.connections > 0 && ', connected'}
        </span>
        <p className="hint">
          <VisibleText text={useWords(device)} />
        </p>
      </div>
      <div className="device-actions">
        {doing === 'remove' ? (
          <>
            <button type="button" className="danger small" onClick={() => ask(REMOVE_DEVICE_METHOD, {})}>
              Remove now
            </button>
            <button type="button" className="quiet small" onClick={() => setDoing(undefined)}>
              Keep
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="quiet small"
              aria-label={`Rename ${device.name}`}
              onClick={() => setDoing('rename')}
            >
              Rename
            </button>
            {!isSelf && (
              <button
                type="button"
                className="quiet small"
                aria-label={`Change ${device.name}`}
                onClick={() => setDoing('change')}
              >
                Change
              </button>
            )}
            <button
              type="button"
              className="quiet small"
              aria-label={`Remove ${device.name}`}
              onClick={() => setDoing('remove')}
            >
              Remove
            </button>
          </>
        )}
      </div>
      {doing === 'change' && (
        <ChangeDevice
          device={device}
          onSave={(change) => ask(CHANGE_DEVICE_METHOD, change)}
          onCancel={() => setDoing(undefined)}
        />
      )}
    </li>
  );
}

/** When and from where the device last connected, in words. */
function useWords({ lastUsed, createdAt, expiresAt, bounds }: Device): string {
  const time = (iso: string) => new Date(iso).toLocaleString();
  const last = lastUsed
    ? `Last here ${time(lastUsed.at)} from ${lastUsed.address}`
    : `Let in ${time(createdAt)}, not here yet`;
  const end = expiresAt === undefined ? [] : [`until ${time(expiresAt)}`];
  const places = [...(bounds?.folders ?? []), ...(bounds?.sessions ?? [])];
  const within = places.length === 0 ? [] : [`only ${places.join(', ')}`];
  return [last, ...(lastUsed?.userAgent ? [shortAgent(lastUsed.userAgent)] : []), ...within, ...end].join(' · ');
}

const AGENT_MAX_CHARACTERS = 60;

/** The browser and the system, which people recognise. */
function shortAgent(text: string): string {
  const browser = /(Edg|Firefox|Chrome|HeadlessChrome|Safari|atrium)[/ ]?\d*/i.exec(text)?.[0];
  const system = /\(([^);]+)/.exec(text)?.[1];
  return browser && system ? `${browser} on ${system}` : text.slice(0, AGENT_MAX_CHARACTERS);
}

interface Devices {
  readonly list?: DeviceList | undefined;
  readonly problem?: string | undefined;
}

/** The list, read again when the host says that it has changed, and after each reconnect. */
function useDevices(): Devices {
  const { client } = useHost();
  const [devices, setDevices] = useState<Devices>({});
  useEffect(() => {
    let isOver = false;
    const read = () =>
      client.requestExtension(DEVICES_METHOD).then(
        (answer) => isOver || setDevices({ list: readDevices(answer) }),
        (error: unknown) => isOver || setDevices({ problem: problemText(error) }),
      );
    const offs = [
      client.onExtension(DEVICES_CHANGED_METHOD, () => void read()),
      client.onStatus(({ at }) => at === 'open' && void read()),
    ];
    void read();
    return () => {
      isOver = true;
      for (const off of offs) off();
    };
  }, [client]);
  return devices;
}
