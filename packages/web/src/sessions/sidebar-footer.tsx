/** The switches of the page: theme, palette, help, another device; and how the connection is. */
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';
import { IconButton } from '../ui/icon-button.js';
import { nextTheme, theme } from '../ui/theme.js';
import { OtherDevice } from './other-device.js';

interface Props {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

export function SidebarFooter({ onHelp, onPalette }: Props) {
  const { link } = useHost();
  const isOpen = useStore(link.status).at === 'open';
  const choice = useStore(theme);
  const [isSharing, setSharing] = useState(false);
  return (
    <footer>
      <span className={`connection ${isOpen ? 'open' : 'lost'}`}>{isOpen ? 'Connected' : 'Reconnecting'}</span>
      <IconButton icon="share" label="Open on another device" onClick={() => setSharing(true)} />
      <IconButton icon="search" label="Commands (Ctrl K)" onClick={onPalette} />
      <IconButton icon="theme" label={`Theme: ${choice}`} onClick={nextTheme} />
      <IconButton icon="keyboard" label="Keyboard (?)" onClick={onHelp} />
      {isSharing && <OtherDevice onClose={() => setSharing(false)} />}
    </footer>
  );
}
