/** Lets a device in: shows a code as QR code, as a link, and, if nobody can read along, as eight digits. */
import {
  ADD_DEVICE_METHOD,
  type AddDeviceParams,
  CANCEL_DEVICE_METHOD,
  type DeviceInvitation,
  deviceLink,
  isRole,
  ROLES,
  type Role,
  readInvitation,
  shownFingerprint,
} from '@atrium/protocol/ahp-1';
import { type FormEvent, useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { CopyButton } from '../ui/copy-button.js';
import { tell } from '../ui/notices.js';
import { isOnlyHere, OnlyHere } from './only-here.js';
import { QrCode } from './qr-code.js';
import { ROLE_WORDS } from './role-words.js';

/** `count`: the number of devices; when it rises, a device has used the code. */
export function AddDevice({ count }: { readonly count: number | undefined }) {
  const { client } = useHost();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('driver');
  const [made, setMade] = useState<{ readonly invitation: DeviceInvitation; readonly count: number | undefined }>();
  const isUsed = made?.count !== undefined && count !== undefined && count > made.count;
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const params: AddDeviceParams = { role, ...(name.trim() !== '' && { name }) };
    try {
      const invitation = readInvitation(await client.requestExtension(ADD_DEVICE_METHOD, params));
      if (invitation) setMade({ invitation, count });
    } catch (error) {
      tell(problemText(error));
    }
  };
  if (made && !isUsed) return <Invitation invitation={made.invitation} onClose={() => setMade(undefined)} />;
  return (
    <form className="device-fields" onSubmit={(event) => void add(event)} aria-label="Add a device">
      <label>
        Name
        <input value={name} placeholder="The device names itself" onChange={({ target }) => setName(target.value)} />
      </label>
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
      <button type="submit" className="primary">
        Add a device
      </button>
      {isUsed && <p role="status">The device is in.</p>}
    </form>
  );
}

function Invitation({ invitation, onClose }: { readonly invitation: DeviceInvitation; readonly onClose: () => void }) {
  const { client } = useHost();
  const addresses = addressesOf(invitation);
  const [address, setAddress] = useState(addresses[0] ?? location.origin);
  const { id, code, shortCode, fingerprint, expiresAt, role } = invitation;
  useEffect(() => {
    const timer = setTimeout(onClose, Math.max(0, Date.parse(expiresAt) - Date.now()));
    return () => clearTimeout(timer);
  }, [expiresAt, onClose]);
  const link = deviceLink({ address, code, fingerprint });
  const cancel = () => {
    void client.requestExtension(CANCEL_DEVICE_METHOD, { id }).catch(() => {});
    onClose();
  };
  return (
    <section aria-label="Code for the new device">
      <OnlyHere address={address} />
      <p>
        Scan this with the camera of the device, or open the link on it. It becomes a <b>{role}</b>. The code counts
        once, until {new Date(expiresAt).toLocaleTimeString()}.
      </p>
      <QrCode text={link} label="QR code of the link" />
      <div className="copy-row">
        <input readOnly aria-label="Link for the new device" value={link} />
        <CopyButton text={link} what="link" />
      </div>
      {addresses.length > 1 && (
        <label>
          Address{' '}
          <select value={address} onChange={({ target }) => setAddress(target.value)}>
            {addresses.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      {shortCode !== undefined && (
        <>
          <p>Or type these digits there, where the page asks for a token:</p>
          <p className="short-code mono">{`${shortCode.slice(0, 4)} ${shortCode.slice(4)}`}</p>
        </>
      )}
      <p className="hint">
        Key of this host: <span className="mono">{shownFingerprint(fingerprint)}</span>. A device that came without
        encryption asks you to compare it.
      </p>
      <button type="button" onClick={cancel}>
        Take the code back
      </button>
    </section>
  );
}

/** The address of this page works from elsewhere unless it is a loopback address. */
function addressesOf({ addresses }: DeviceInvitation): readonly string[] {
  const own = location.origin;
  return [...new Set(isOnlyHere(own) ? [...addresses, own] : [own, ...addresses])];
}
