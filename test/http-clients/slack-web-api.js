import { WebClient } from '@slack/web-api';

const clientOf = (base, options) =>
  new WebClient('xoxb-test', { slackApiUrl: `${base}/slack/`, retryConfig: { retries: 0 }, ...options });

export const checks = {
  async form(base) {
    const answer = await clientOf(base).chat.postMessage({
      channel: 'C1',
      text: 'hi & bye',
      blocks: [{ type: 'divider' }],
    });
    equal(answer.ok, true);
    equal(answer.received, { channel: 'C1', text: 'hi & bye', blocks: '[{"type":"divider"}]' });
    equal(answer.authorization, 'Bearer xoxb-test');
  },
  async multipart(base) {
    const file = Buffer.from(pattern(70_000));
    const answer = await clientOf(base).apiCall('files.upload', { channels: 'C1', filename: 'data.bin', file });
    equal([answer.received.channels, answer.received.file.bytes, answer.received.file.isPattern], ['C1', 70_000, true]);
  },
  async paging(base) {
    const names = [];
    for await (const page of clientOf(base).paginate('users.list', { limit: 2 })) names.push(...page.members);
    equal(names, ['ada', 'bob', 'cy']);
  },
  async error(base) {
    const error = await failureOf(clientOf(base).chat.delete({ channel: 'C1', ts: '1' }));
    equal([error.code, error.data.error], ['slack_webapi_platform_error', 'message_not_found']);
  },
  async timeout(base) {
    const error = await failureOf(clientOf(base, { timeout: TIMEOUT_MS }).apiCall('never'));
    equal(error.code, 'slack_webapi_request_error');
  },
};
