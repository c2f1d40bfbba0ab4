/** Where the page begins. */
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { HostLink } from './host/link.js';
import { takeTokenFromAddress } from './host/token.js';
import './styles/base.css';
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

takeTokenFromAddress();
applyTheme();
restorePanelWidth();

const link = new HostLink();
void link.start();
// A link with a new token may be opened in this very tab, which does not load the page again.
addEventListener('hashchange', () => takeTokenFromAddress() && link.retry());

const root = document.getElementById('root');
if (root) createRoot(root).render(<App link={link} />);
