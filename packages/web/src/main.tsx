/** The entry point of the page. */
import { readDeviceFragment, shareTokenIn } from '@atrium/protocol/ahp-1';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { keepCurrent } from './host/app-version.js';
import { HostLink } from './host/link.js';
import { takeInvitationFromAddress, takeTokenFromAddress } from './host/token.js';
import './styles/base.css';
import './styles/themes.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/sessions.css';
import './styles/conversation.css';
import './styles/tool-call.css';
import './styles/composer.css';
import './styles/panel.css';
import './styles/links.css';
import './styles/code.css';
import './styles/motion.css';
import { restorePanelWidth } from './ui/panel-state.js';
import { applyTheme } from './ui/preferences.js';

const share = shareTokenIn(location.hash);
const invited = share === undefined ? takeInvitationFromAddress() : undefined;
if (share === undefined) takeTokenFromAddress();
applyTheme();
restorePanelWidth();

const link = new HostLink(share);
if (!invited) void link.start();
keepCurrent(link);
// A person may open a link with a new token in this tab, which does not load the page again.
const address = location.href;
addEventListener('hashchange', () => {
  if (shareTokenIn(location.hash) !== undefined || readDeviceFragment(location.hash)) location.reload();
  // The address of a share keeps its token.
  else if (share !== undefined) history.replaceState(null, '', address);
  else if (takeTokenFromAddress()) link.retry();
});

const root = document.getElementById('root');
if (root) createRoot(root).render(<App link={link} invited={invited} />);
