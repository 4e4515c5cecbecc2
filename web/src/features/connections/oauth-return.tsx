import { useEffect } from 'react';
import { Empty } from '../../ui/empty.tsx';

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
    <main>
      <Empty icon="connection" title={error === null ? 'The account is connected' : 'The account is not connected'}>
        {error ?? 'You can close this window.'}
      </Empty>
    </main>
  );
}
