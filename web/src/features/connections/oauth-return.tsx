import { useEffect } from 'react';
import { Icon } from '../../ui/icons.tsx';
import { SignInCard } from '../sign-in/sign-in.tsx';

export const OAUTH_CHANNEL = 'headwater.oauth';

export interface OAuthResult {
  /** The slug of the app. */
  app: string;
  accountId?: string;
  error?: string;
}

/** End of an OAuth flow in its own window: reports to the page that began it, and closes. */
export function OAuthReturn() {
  const search = new URLSearchParams(location.search);
  const error = search.get('error');
  useEffect(() => {
    const found = new URLSearchParams(location.search);
    const [accountId, fault] = [found.get('connected_account_id'), found.get('error')];
    const result: OAuthResult = {
      app: found.get('app') ?? '',
      ...(accountId === null ? {} : { accountId }),
      ...(fault === null ? {} : { error: fault }),
    };
    const channel = new BroadcastChannel(OAUTH_CHANNEL);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    channel.postMessage(result);
    channel.close();
    window.close();
  }, []);
  return (
    <SignInCard>
      <div className="flex gap-3">
        <Icon
          name={error === null ? 'check' : 'warning'}
          className={`mt-0.5 size-5 ${error === null ? 'text-good' : 'text-bad'}`}
        />
        <div className="flex min-w-0 flex-col gap-1 text-sm">
          <h2 className="text-lg font-semibold">
            {error === null ? 'The account is connected' : 'The account is not connected'}
          </h2>
          {error !== null && <p className="break-words">{error}</p>}
          <p className="text-ink-soft">
            {error === null
              ? 'You can close this window: the page that opened it goes on.'
              : 'Close this window, and connect again from the page that opened it.'}
          </p>
        </div>
      </div>
    </SignInCard>
  );
}
