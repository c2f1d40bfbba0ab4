/** How a second device joins: the link, and what it takes for it to work from there. */
import { linkWithToken } from '../host/token.js';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';

const ON_THE_NETWORK = `(umask 077; openssl rand -hex 16 > ~/atrium-token)
npm start -- --host 0.0.0.0 --connection-token-file ~/atrium-token`;
const ONLY_HERE = /^(localhost|127\.|\[::1\])/;

export function OtherDevice({ onClose }: { readonly onClose: () => void }) {
  const isOnlyHere = ONLY_HERE.test(location.host);
  return (
    <Dialog title="Open on another device" onClose={onClose}>
      <p>Every device that opens this link sees the same sessions, live, and can answer for you.</p>
      <div className="copy-row">
        <input readOnly aria-label="Link with the token" type="password" value={linkWithToken()} />
        <CopyButton text={linkWithToken()} what="link" />
      </div>
      <p className="hint">The link contains your token: whoever has it can use this host as you.</p>
      {isOnlyHere && <Elsewhere />}
    </Dialog>
  );
}

function Elsewhere() {
  return (
    <>
      <p>
        This address works on this machine only: open the link in another browser window and you have two clients. For a
        phone, start the host so that your network reaches it, with a token of your own:
      </p>
      <pre className="command">{ON_THE_NETWORK}</pre>
      <p className="hint">
        Then use the address of this machine instead of localhost (for a name, add --allowed-hosts). Connections are not
        encrypted: do this in a network that you trust, or put a proxy with TLS in front.
      </p>
    </>
  );
}
