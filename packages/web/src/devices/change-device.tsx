/** The form for the rights of a device: role, end, folders and sessions. An empty field sets no bound. */
import { type ChangeDeviceParams, type Device, isRole, ROLES, type Role } from '@atrium/protocol/ahp-1';
import { type FormEvent, useState } from 'react';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';
import { ROLE_WORDS } from './role-words.js';

export type DeviceChange = Omit<ChangeDeviceParams, 'id'>;

interface ChangeProps {
  readonly device: Device;
  readonly onSave: (change: DeviceChange) => void;
  readonly onCancel: () => void;
}

/** How many of the newest sessions the form offers, besides the chosen ones. */
const OFFERED_MAX = 20;

export function ChangeDevice({ device, onSave, onCancel }: ChangeProps) {
  const [role, setRole] = useState<Role>(device.role);
  const [until, setUntil] = useState(device.expiresAt === undefined ? '' : localTime(device.expiresAt));
  const [folders, setFolders] = useState((device.bounds?.folders ?? []).join('\n'));
  const [sessions, setSessions] = useState<readonly string[]>(device.bounds?.sessions ?? []);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const lines = folders.split('\n').flatMap((line) => line.trim() || []);
    const some = (items: readonly string[]) => (items.length > 0 ? items : null);
    const end = device.expiresAt !== undefined && until === localTime(device.expiresAt) ? undefined : isoTime(until);
    onSave({
      ...{ role, bounds: { folders: some(lines), sessions: some(sessions) } },
      ...(end !== undefined && { until: end }),
    });
  };
  return (
    <form className="device-change" onSubmit={save} aria-label={`What ${device.name} may do`}>
      <label>
        May do
        <select value={role} onChange={({ target }) => isRole(target.value) && setRole(target.value)}>
          {ROLES.map((each) => (
            <option key={each} value={each}>
              {ROLE_WORDS[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Until (empty: without an end)
        <input type="datetime-local" value={until} onChange={({ target }) => setUntil(target.value)} />
      </label>
      <label>
        Only in these folders, one on each line (empty: in all)
        <textarea rows={2} value={folders} onChange={({ target }) => setFolders(target.value)} />
      </label>
      <Sessions chosen={sessions} onChange={setSessions} />
      <p className="hint">
        It takes effect at once: the connections of the device end, and come back with the new rights.
      </p>
      <div className="device-actions">
        <button type="submit" className="primary small">
          Save
        </button>
        <button type="button" className="quiet small" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface SessionsProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function Sessions({ chosen, onChange }: SessionsProps) {
  const { link } = useHost();
  const all = useStore(link.sessions) ?? [];
  const known = new Map(all.map(({ resource, title }) => [resource, title]));
  const offered = new Set([...chosen, ...all.slice(0, OFFERED_MAX).map(({ resource }) => resource)]);
  const toggle = (uri: string) =>
    onChange(chosen.includes(uri) ? chosen.filter((each) => each !== uri) : [...chosen, uri]);
  return (
    <details open={chosen.length > 0}>
      <summary>{chosen.length === 0 ? 'Not bound to sessions' : `Only these sessions: ${chosen.length}`}</summary>
      <fieldset aria-label="Sessions">
        {[...offered].map((uri) => (
          <label key={uri}>
            <input type="checkbox" checked={chosen.includes(uri)} onChange={() => toggle(uri)} />
            {known.get(uri) || uri}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** The format of the browser's field: local time, to the minute. */
function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isoTime(local: string): string | null {
  return local === '' ? null : new Date(local).toISOString();
}
