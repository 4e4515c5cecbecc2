/**
 * The first step of `approval.json`: asks a page of your own for a decision, and waits for it.
 * Create the workflow like that of `price-order.mjs`. DESK_URL is where your page receives its
 * questions. A person decides there, and the page calls the link:
 *
 *   curl "$RESUME_URL" -H 'content-type: application/json' -d '{"approved":true,"by":"Ada"}'
 *
 * Do not send the links in messages: a program that opens them for a preview would decide.
 */
const HOUR_MS = 3_600_000;

export default {
  name: 'Ask for approval',
  key: 'approval-ask',
  version: '0.1.0',
  type: 'action',
  description: 'Sends a question with a link, and suspends the workflow until the link is called.',
  props: {
    question: { type: 'string', label: 'Question' },
    deskUrl: { type: 'string', label: 'URL of the page that gets the question' },
    hours: { type: 'integer', label: 'Hours to wait', min: 1, max: 8760, default: 24, optional: true },
  },
  async run({ $ }) {
    const { resume_url: resumeUrl, cancel_url: cancelUrl } = $.flow.suspend(this.hours * HOUR_MS);
    // The step may run twice if a node dies before it is stored: the id is the same both times.
    const body = { id: $.context.id, question: this.question, resume_url: resumeUrl, cancel_url: cancelUrl };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.deskUrl}/questions`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`The question was answered with status ${answer.status}`);
    $.export('$summary', `Asked: ${this.question}`);
  },
};
