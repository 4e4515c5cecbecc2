import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { type Column, layoutOf, type PlacedEdge, type PlacedNode } from './subscription-layout.ts';
import type { Subscription } from './webhook-queries.ts';

const ROW_PX = 48;
const NODE_PX = 36;

interface Place {
  left: number;
  right: number;
  title: string;
  icon: IconName;
  to: '/sources/$id' | '/workflows/$id' | '/webhooks/$id';
}

/** In percent of the width. */
const COLUMNS: Record<Column, Place> = {
  0: { left: 0, right: 28, title: 'Sources', icon: 'source', to: '/sources/$id' },
  1: { left: 36, right: 64, title: 'Workflows', icon: 'workflow', to: '/workflows/$id' },
  2: { left: 72, right: 100, title: 'Webhooks', icon: 'webhook', to: '/webhooks/$id' },
};

interface SubscriptionPictureProps {
  subscriptions: readonly Subscription[];
  nameOf: (id: string) => string;
}

/** Lines from each emitter to its listeners. Those of the node under the pointer stand out. */
export function SubscriptionPicture({ subscriptions, nameOf }: SubscriptionPictureProps) {
  const { nodes, edges, rows } = useMemo(() => layoutOf(subscriptions), [subscriptions]);
  const [chosen, setChosen] = useState<string>();
  const isChosen = ({ from, to }: PlacedEdge) => chosen === from.id || chosen === to.id;
  return (
    <div className="overflow-x-auto p-4">
      <div className="min-w-140">
        <div aria-hidden="true" className="relative h-6 text-xs text-ink-faint">
          {Object.values(COLUMNS).map(({ title, left }) => (
            <span key={title} className="absolute" style={{ left: `${left}%` }}>
              {title}
            </span>
          ))}
        </div>
        <div className="relative" style={{ height: rows * ROW_PX }}>
          <svg
            role="img"
            aria-label={`${edges.length} subscriptions: the table below lists them`}
            className="absolute inset-0 size-full"
            viewBox={`0 0 100 ${rows * ROW_PX}`}
            preserveAspectRatio="none"
          >
            {edges.map((edge) => (
              <path
                key={edge.subscription.id}
                d={lineOf(edge)}
                fill="none"
                vectorEffect="non-scaling-stroke"
                strokeWidth={isChosen(edge) ? 2 : 1.25}
                strokeDasharray={edge.subscription.filter === null ? undefined : '5 4'}
                className={classNames(
                  isChosen(edge) ? 'stroke-accent' : 'stroke-ink-faint',
                  chosen !== undefined && !isChosen(edge) && 'opacity-40',
                )}
              />
            ))}
          </svg>
          {nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              name={nameOf(node.id)}
              onChoose={(isOver) => setChosen(isOver ? node.id : undefined)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const middleOf = ({ row }: PlacedNode) => row * ROW_PX + NODE_PX / 2;

/** To a column on the right, or around to the same or an earlier one. */
function lineOf({ from, to }: PlacedEdge): string {
  const start = COLUMNS[from.column].right;
  const isForward = to.column > from.column;
  const end = isForward ? COLUMNS[to.column].left : COLUMNS[to.column].right;
  const bend = isForward ? (end - start) / 2 : 6;
  const endBend = isForward ? end - bend : end + bend;
  return `M ${start} ${middleOf(from)} C ${start + bend} ${middleOf(from)}, ${endBend} ${middleOf(to)}, ${end} ${middleOf(to)}`;
}

interface NodeProps {
  node: PlacedNode;
  name: string;
  onChoose: (isOver: boolean) => void;
}

function Node({ node: { id, column, row }, name, onChoose }: NodeProps) {
  const { left, right, icon, to } = COLUMNS[column];
  const look = {
    className:
      'absolute flex items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-sm hover:border-accent',
    style: { left: `${left}%`, width: `${right - left}%`, top: row * ROW_PX, height: NODE_PX },
    title: name,
    onMouseEnter: () => onChoose(true),
    onMouseLeave: () => onChoose(false),
    onFocus: () => onChoose(true),
    onBlur: () => onChoose(false),
  };
  const content = (
    <>
      <Icon name={icon} className="size-3.5 text-ink-faint" />
      <span className="truncate">{name}</span>
    </>
  );
  // All sources or workflows, or the account itself: there is no page of one.
  if (!/^(dc|p|wh)_\w+$/.test(id)) return <span {...look}>{content}</span>;
  return (
    <Link {...look} to={to} params={{ id }}>
      {content}
    </Link>
  );
}
