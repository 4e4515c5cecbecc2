import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { onSessionEnd, renewSession } from './api/client.ts';
import { currentSession, setSession } from './api/session.ts';
import { portal } from './app/portal.ts';
import { queryClient } from './app/queries.ts';
import { router } from './app/router.tsx';
import { startTheme } from './app/theme.ts';
import { showCutText } from './ui/cut-text.ts';
import './styles.css';

const RENEW_MS = 60 * 60 * 1000;

/** A page is shown in other fonts rather than later than this. */
const MAX_FONTS_MS = 1_000;

/** A font that comes when the text is on screen moves what stands beside and below it. */
async function loadFonts(): Promise<void> {
  const fonts = ['Inter Variable', 'JetBrains Mono Variable'].map((name) => document.fonts.load(`1em "${name}"`));
  await Promise.race([Promise.allSettled(fonts), new Promise((resolve) => setTimeout(resolve, MAX_FONTS_MS))]);
}

async function start(): Promise<void> {
  startTheme();
  showCutText();
  onSessionEnd(() => {
    // The first of several refused requests knows where the user was. The portal has no session.
    if (portal === undefined && currentSession() === undefined) return;
    const { pathname, searchStr } = router.state.location;
    setSession(undefined);
    queryClient.clear();
    // After sign-in, the user returns to this page.
    void router.navigate({ to: '/sign-in', search: { from: pathname + searchStr, ended: true } });
  });
  setInterval(() => {
    if (currentSession() !== undefined) void renewSession().catch(() => undefined);
  }, RENEW_MS);
  const place = document.getElementById('app');
  if (place === null) throw new Error('The page has no #app');
  await loadFonts();
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
