import { Menu } from '@base-ui/react/menu';
import { Button } from '../ui/button.tsx';
import { MenuItem } from '../ui/copy.tsx';
import { Icon } from '../ui/icons.tsx';
import { type Theme, useTheme } from './theme.ts';

const THEMES: [Theme, string][] = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['system', 'As the system'],
];

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <Menu.Root>
      <Menu.Trigger render={<Button kind="quiet" size="small" aria-label="Theme" className="px-1.5" />}>
        <Icon name="sun" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="z-50">
          <Menu.Popup className="min-w-36 rounded-lg border border-line bg-raised p-1 shadow-popup outline-none">
            {THEMES.map(([value, label]) => (
              <MenuItem key={value} onClick={() => setTheme(value)}>
                <Icon name="check" className={theme === value ? 'size-4' : 'invisible size-4'} />
                {label}
              </MenuItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
