--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: workflow; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS workflow WITH SCHEMA public;


--
-- Name: EXTENSION workflow; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION workflow IS 'workflow engine: definitions, instances, bookmarks and triggers as tables';


--
-- Name: answered(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.answered(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('by', context -> 'input' -> 'by'), 'complete', true) $$;


ALTER FUNCTION public.answered(context jsonb) OWNER TO postgres;

--
-- Name: ask(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.ask(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bookmarks": [{"name": "Acme.Ask", "payload": {"office": 1}, "metadata": {"floor": 2}, "callback": "public.answered"}]}'::jsonb $$;


ALTER FUNCTION public.ask(context jsonb) OWNER TO postgres;

--
-- Name: bells(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.bells(context jsonb) RETURNS SETOF jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bell": 1}'::jsonb $$;


ALTER FUNCTION public.bells(context jsonb) OWNER TO postgres;

--
-- Name: ring(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.ring(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bookmarks": [{"name": "Acme.Bell", "payload": {"bell": 1}}]}'::jsonb WHERE NOT (context ->> 'isTrigger')::boolean
   UNION ALL SELECT '{}' WHERE (context ->> 'isTrigger')::boolean $$;


ALTER FUNCTION public.ring(context jsonb) OWNER TO postgres;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: notes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.notes (
    what text NOT NULL
);


ALTER TABLE public.notes OWNER TO postgres;

--
-- Data for Name: notes; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.notes (what) FROM stdin;
command
\.


--
-- Data for Name: activity_types; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.activity_types (type, handler, handler_owner, kind, payloads, payloads_owner, inputs, outputs, outcomes, description, owner, created_at) FROM stdin;
Acme.Ask	public.ask	841317955	action	\N	\N	\N	[{"name": "by", "type": "String"}]	\N	\N	841317955	2026-11-23 18:59:25.625818+00
Acme.Bell	public.ring	841317955	trigger	public.bells	841317955	\N	\N	\N	\N	841317955	2026-11-23 18:59:25.627624+00
\.


--
-- Data for Name: bookmark_queue; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmark_queue (id, shape, match_key, sender, attempts, created_at, expires_at, not_before, deferred_for, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input) FROM stdin;
01a209c6-fd6f-7000-8000-6cdc101d60a6	160	4071388769733518392	841317955	0	2026-11-23 18:59:25.679261+00	2125-06-17 18:59:25.679261+00	\N	\N	\N	\N	\N	\N	\N	to-come	f	\N	kept	\N	\N	{"by": "early bird"}
\.


--
-- Data for Name: bookmarks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, callback_owner, payload, metadata, attempts) FROM stdin;
01a209c6-fd51-7000-8001-dc84620cc48b	01a209c6-fd51-7000-8000-cc8ba3558d2f	01a209c6-fd51-7000-8000-cc8ba3558d2d	-8700966495242961425	2026-11-23 18:59:25.649399+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Event	\N	\N	{"EventName": "Go"}	\N	\N
01a209c6-fd53-7000-8001-561b2f91b974	01a209c6-fd53-7000-8000-b3d2543b3d29	01a209c6-fd53-7000-8000-b3d2543b3d2b	\N	2026-11-23 18:59:25.651292+00	\N	t	t	\N	RunTask1	Workflow1:Sequence1:RunTask1	Elsa.RunTask	Elsa.RunTask	RunTask	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209c6-fd54-7000-8002-a419d45d47cb	01a209c6-fd54-7000-8001-6c378238fc08	01a209c6-fd54-7000-8001-6c378238fc0a	1908898523738150833	2026-11-23 18:59:25.652711+00	2026-11-23 18:59:25.653711+00	t	t	\\x1a7dc517f3ae17b1c7555388d0aada277488aac57fe4e91d85ff5995960d3b72	Delay1	Workflow1:Sequence1:Delay1	Elsa.Delay	Elsa.Delay	Delay	\N	\N	{"ResumeAt": "2026-11-23T18:59:25.653711+00:00"}	\N	\N
01a209c6-fd57-7000-8001-84f93c108faf	01a209c6-fd57-7000-8000-1f99de6a2ad1	01a209c6-fd57-7000-8000-1f99de6a2ad3	-4994601552773497172	2026-11-23 18:59:25.655343+00	2026-11-23 18:59:25.656543+00	t	t	\\xbaaf9c59ac523eaccda1895546a12591ae6285a3045fbf8c1d860b1f18964671	StartAt1	Workflow1:Sequence1:StartAt1	Elsa.StartAt	Elsa.StartAt	StartAt	\N	\N	{"ExecuteAt": "2026-11-23T18:59:25.656543+00:00"}	\N	\N
01a209c6-fd58-7000-8001-98369c5776d4	01a209c6-fd58-7000-8000-0e949d38a48c	01a209c6-fd58-7000-8000-0e949d38a48e	-5011199252107997356	2026-11-23 18:59:25.65623+00	2026-11-23 18:59:26.65623+00	t	t	\\xba74a4d4a7664f548061293fe6100070f67c27bf686d930ca22bb81bc911a129	Timer1	Workflow1:Sequence1:Timer1	Elsa.Timer	Elsa.Timer	Timer	\N	\N	{"ResumeAt": "2026-11-23T18:59:26.65623+00:00"}	\N	\N
01a209c6-fd58-7000-8004-aa15f84d86a0	01a209c6-fd58-7000-8003-e98a0e911024	01a209c6-fd58-7000-8003-e98a0e911026	9028870848545448012	2026-11-23 18:59:25.65681+00	2026-11-23 18:59:26+00	t	t	\\x7d4cfe33226e604c3c3b0491997a06dd16dccd2ffae71a552f22f27c63df9b92	Cron1	Workflow1:Sequence1:Cron1	Elsa.Cron	Elsa.Cron	Cron	\N	\N	{"ExecuteAt": "2026-11-23T18:59:26+00:00", "CronExpression": "* * * * * *"}	\N	\N
01a209c6-fd5a-7000-8001-ca81380d9f8f	01a209c6-fd5a-7000-8000-3436df763659	01a209c6-fd5a-7000-8000-3436df76365b	-991020432082167739	2026-11-23 18:59:25.65892+00	\N	t	t	\\xf23f302aec9698459aee72b2488a3d43cb7548bce848cf82bdd06507d6636969	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	HttpEndpoint	\N	\N	{"Path": "/sign", "Route": "sign/L|sign|sign|post", "Method": "post"}	\N	\N
01a209c6-fd5c-7000-8003-d38a78f7cc24	01a209c6-fd5c-7000-8002-2c3112faacbd	01a209c6-fd5c-7000-8002-2c3112faacbf	853471251640664455	2026-11-23 18:59:25.660892+00	2026-11-23 18:59:25.660892+00	t	f	\\x0bd82394dc0cc1875f56c6e27bd385717685301bc58330dc15acd490ed1cc513	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	BackgroundActivity	BackgroundActivity	\N	\N	\N	\N	\N
01a209c6-fd5d-7000-8003-bed0edee6b4a	01a209c6-fd5d-7000-8001-62c28bcb8858	01a209c6-fd5d-7000-8001-62c28bcb885a	-248741418832400945	2026-11-23 18:59:25.66133+00	\N	t	t	\\xfc8c4aff59916dcf9d645a2f772e89745a3bd636bcfd90791a01a5ec2bdc9983	ExecuteWorkflow1	Workflow1:Sequence1:ExecuteWorkflow1	Elsa.ExecuteWorkflow	Elsa.ExecuteWorkflow	ExecuteWorkflow	\N	\N	{"ChildInstanceId": "01a209c6-fd5d-7000-8002-2534b1efe56e"}	\N	\N
01a209c6-fd5d-7000-8004-b88ac69b0486	01a209c6-fd5d-7000-8002-2534b1efe56e	01a209c6-fd5d-7000-8002-2534b1efe56f	\N	2026-11-23 18:59:25.66133+00	\N	t	t	\N	ask	Workflow1:Sequence1:ask	Elsa.RunTask	Elsa.RunTask	\N	\N	\N	{"TaskName": "Child"}	\N	\N
01a209c6-fd5e-7000-8002-aed1b60ae909	01a209c6-fd5e-7000-8000-580f0325c19c	01a209c6-fd5e-7000-8000-580f0325c19e	8739643459017198511	2026-11-23 18:59:25.662032+00	\N	t	t	\\x7949736bde494baf6e653884dbec364379e33dd8354e995c41ad13306ee85adf	DispatchWorkflow1	Workflow1:Sequence1:DispatchWorkflow1	Elsa.DispatchWorkflow	Elsa.DispatchWorkflow	DispatchWorkflow	\N	\N	{"ChildInstanceId": "01a209c6-fd5e-7000-8001-804c427452a6"}	\N	\N
01a209c6-fd5e-7000-8003-256e25dacc0e	01a209c6-fd5e-7000-8001-804c427452a6	01a209c6-fd5e-7000-8001-804c427452a6	-9090673421434385384	2026-11-23 18:59:25.662032+00	2026-11-23 18:59:25.662032+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209c6-fd5e-7000-8006-edbc712cbd9a	01a209c6-fd5e-7000-8005-98f180dc5063	01a209c6-fd5e-7000-8005-98f180dc5061	5197457525104780444	2026-11-23 18:59:25.662496+00	\N	f	f	\\x48211414ef0d249c60e8013a7c675170ed1cf81e4bbd5b5d2d94f81aa47bcfd3	BulkDispatchWorkflows1	Workflow1:Sequence1:BulkDispatchWorkflows1	Elsa.BulkDispatchWorkflows	Elsa.BulkDispatchWorkflows	BulkDispatchWorkflows	\N	\N	{"ParentInstanceId": "01a209c6-fd5e-7000-8005-98f180dc5063"}	\N	\N
01a209c6-fd5e-7000-8009-a674e4ce7441	01a209c6-fd5e-7000-8007-ae44682705d8	01a209c6-fd5e-7000-8007-ae44682705d8	-9090673421434385384	2026-11-23 18:59:25.662496+00	2026-11-23 18:59:25.662496+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209c6-fd5e-7000-800a-f768475c3eee	01a209c6-fd5e-7000-8008-80a56b5b00e7	01a209c6-fd5e-7000-8008-80a56b5b00e7	-9090673421434385384	2026-11-23 18:59:25.662496+00	2026-11-23 18:59:25.662496+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209c6-fd5f-7000-8001-b67a10e73956	01a209c6-fd5f-7000-8000-eee9f70917d1	01a209c6-fd5f-7000-8000-eee9f70917d3	655840952004442242	2026-11-23 18:59:25.663326+00	\N	t	t	\\x091a03defd60f8821c78a187d2aaf00edd4f6cdc78306dd5c49846cfd2d3da83	Ask1	Workflow1:Sequence1:Ask1	Acme.Ask	Acme.Ask	Acme.Ask	public.answered	841317955	{"office": 1}	{"floor": 2}	\N
01a209c6-fd60-7000-8002-8b1f88a3f4c9	01a209c6-fd60-7000-8001-2306981df3e4	01a209c6-fd60-7000-8001-2306981df3e6	1764510379577796851	2026-11-23 18:59:25.664564+00	\N	t	t	\\x187cccd7693968f3edfac1e7ac9a5dfbdd106b561971844384577b0cec7b31c8	Bell1	Workflow1:Sequence1:Bell1	Acme.Bell	Acme.Bell	Acme.Bell	\N	\N	{"bell": 1}	\N	\N
01a209c6-fd61-7000-8002-968295ee772a	01a209c6-fd61-7000-8001-cf186c15261c	01a209c6-fd61-7000-8001-cf186c152618	4856267244929732906	2026-11-23 18:59:25.665815+00	\N	t	t	\\x4364ed546466d12aca89c8e94bfd36c88a89b564051ba6baf14449e34f3ae29c	Event1	Workflow1:Sequence1:Part1:Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	WorkflowDefinitionActivity	\N	\N	{"EventName": "Part"}	\N	\N
01a209c6-fd62-7000-8001-a30c28818911	01a209c6-fd62-7000-8000-c2ef0baf3641	01a209c6-fd62-7000-8000-c2ef0baf3645	-1363089811604987638	2026-11-23 18:59:25.666247+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Composite1:Sequence2:Event1	Elsa.Event	Elsa.Event	Composite	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd64-7000-8002-59fa036c6a05	01a209c6-fd64-7000-8001-3be931a49c52	01a209c6-fd64-7000-8001-3be931a49c51	-1363089811604987638	2026-11-23 18:59:25.668329+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:If1:Event1	Elsa.Event	Elsa.Event	If	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd64-7000-8005-48257fdf934b	01a209c6-fd64-7000-8004-7fe316e1348a	01a209c6-fd64-7000-8004-7fe316e13489	-1363089811604987638	2026-11-23 18:59:25.668664+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Switch1:Event1	Elsa.Event	Elsa.Event	Switch	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd65-7000-8001-ec522b45d810	01a209c6-fd65-7000-8000-3318d257af6c	01a209c6-fd65-7000-8000-3318d257af6f	-1363089811604987638	2026-11-23 18:59:25.669116+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:While1:Event1	Elsa.Event	Elsa.Event	While	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd65-7000-8004-2c06ae75f0c1	01a209c6-fd65-7000-8003-ca4156300fdb	01a209c6-fd65-7000-8003-ca4156300fd8	-1363089811604987638	2026-11-23 18:59:25.669491+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:For1:Event1	Elsa.Event	Elsa.Event	For	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd65-7000-8007-b881867204d7	01a209c6-fd65-7000-8006-4a9981313f02	01a209c6-fd65-7000-8006-4a9981313f01	-1363089811604987638	2026-11-23 18:59:25.669791+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ForEach1:Event1	Elsa.Event	Elsa.Event	ForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd66-7000-8001-d2ec87080ddd	01a209c6-fd66-7000-8000-c508db595ed0	01a209c6-fd66-7000-8000-c508db595ed3	-1363089811604987638	2026-11-23 18:59:25.670075+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd66-7000-8002-3d43b319a6e4	01a209c6-fd66-7000-8000-c508db595ed0	01a209c6-fd66-7000-8000-c508db595ed4	-1363089811604987638	2026-11-23 18:59:25.670075+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd66-7000-8005-9074ac12ab44	01a209c6-fd66-7000-8004-f7b3b13239b6	01a209c6-fd66-7000-8004-f7b3b13239b5	-1363089811604987638	2026-11-23 18:59:25.670366+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Parallel1:Event1	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd66-7000-8006-1cb2344a7aec	01a209c6-fd66-7000-8004-f7b3b13239b6	01a209c6-fd66-7000-8004-f7b3b13239b2	-8700966495242961425	2026-11-23 18:59:25.670366+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event2	Workflow1:Sequence1:Parallel1:Event2	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Go"}	\N	\N
01a209c6-fd66-7000-8009-9a60749c6fb3	01a209c6-fd66-7000-8008-d6d747ab143c	01a209c6-fd66-7000-8008-d6d747ab143f	-1363089811604987638	2026-11-23 18:59:25.670664+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Fork1:Event1	Elsa.Event	Elsa.Event	Fork	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd66-7000-800a-69b439bf7624	01a209c6-fd66-7000-8008-d6d747ab143c	01a209c6-fd66-7000-8008-d6d747ab1438	-5077422729469229070	2026-11-23 18:59:25.670664+00	2029-08-19 18:59:25.670664+00	t	t	\\xb9895eedcb7e07f25ad1e1548ba96bdfc3f425607543cb75a3f3cae9c6757e1f	Delay1	Workflow1:Sequence1:Fork1:Delay1	Elsa.Delay	Elsa.Delay	Fork	\N	\N	{"ResumeAt": "2029-08-19T18:59:25.670664+00:00"}	\N	\N
01a209c6-fd67-7000-8001-db08f19faa33	01a209c6-fd67-7000-8000-3d7f2900483e	01a209c6-fd67-7000-8000-3d7f2900483a	-1363089811604987638	2026-11-23 18:59:25.671104+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	Flowchart	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd67-7000-8002-b154a50d042b	01a209c6-fd67-7000-8000-3d7f2900483e	01a209c6-fd67-7000-8000-3d7f2900483b	\N	2026-11-23 18:59:25.671104+00	\N	t	t	\N	b	Workflow1:Sequence1:Flowchart1:b	Elsa.RunTask	Elsa.RunTask	Flowchart	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209c6-fd67-7000-8005-a7d4820064c6	01a209c6-fd67-7000-8004-aa9d8004c6f2	01a209c6-fd67-7000-8004-aa9d8004c6f1	-1363089811604987638	2026-11-23 18:59:25.6715+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	FlowchartTokens	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd67-7000-8008-9f3f25ae122d	01a209c6-fd67-7000-8007-140ebb94355a	01a209c6-fd67-7000-8007-140ebb943559	-1363089811604987638	2026-11-23 18:59:25.671792+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:StateMachine1:Event1	Elsa.Event	Elsa.Event	StateMachine	\N	\N	{"EventName": "Inside"}	\N	\N
01a209c6-fd6e-7000-8002-923e35b6ba9c	01a209c6-fd6e-7000-8001-54bf2458bb97	01a209c6-fd6e-7000-8001-54bf2458bb96	3916241601270271175	2026-11-23 18:59:25.678446+00	\N	t	t	\\x365948fcba524cc72aedb16dc6dfdf5698ec80b98d321ec77b92dcc2e9d57b0c	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Singleton	\N	\N	{"EventName": "Single"}	\N	\N
01a209c6-fd73-7000-8001-37225d7c7b2a	01a209c6-fd73-7000-8000-4a1edf7f0741	01a209c6-fd73-7000-8000-4a1edf7f0740	6519142656413473659	2026-11-23 18:59:25.683273+00	\N	t	t	\\x5a78a5b4c39f1b7b11d72690c9f26678b7ab084999ee4c18905020e1c0e77a4e	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Clerk	\N	\N	{"EventName": "Clerk"}	\N	\N
\.


--
-- Data for Name: dead_letters; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, replayed_at, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input, due_at) FROM stdin;
\.


--
-- Data for Name: definitions; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.definitions (id, definition_id, version, name, description, is_latest, is_published, security, uses_sql, owner, retention, created_at, deleted_at, document, activity_type, links, search_path, unknown_types, numbering) FROM stdin;
01a209c6-fd3c-7000-8000-a05a62e62dad	child	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.628787+00	\N	{"root": [{"id": "ask", "type": "RunTask", "taskName": "Child"}, {"type": "SetOutput", "outputName": "Result", "outputValue": {"js": "getOutputFrom('ask')"}}, {"type": "SetName", "value": "done"}], "outputs": [{"name": "Result"}], "definitionId": "child"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "ask"], [0, "SetOutput1"], [0, "SetName1"]], "connections": []}
01a209c6-fd4f-7000-8000-0bfe22c5d8c7	part	1	Part	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.647486+00	\N	{"name": "Part", "root": [{"type": "Event", "eventName": "Part"}], "options": {"usableAsActivity": true}, "definitionId": "part"}	Part	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"]], "connections": []}
01a209c6-fd52-7000-8000-70312b256f43	RunTask	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.650891+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "RunTask", "result": {"var": "Answer"}, "payload": {"object": {"of": "Ada"}}, "taskName": "Sign"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "RunTask"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "RunTask1"], [0, "SetName1"]], "connections": []}
01a209c6-fd54-7000-8000-7436709ab3a7	Delay	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.652324+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Delay", "timeSpan": "00:00:00.001"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Delay"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Delay1"], [0, "SetName1"]], "connections": []}
01a209c6-fd55-7000-8000-4448b23cff97	StartAt	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.653413+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StartAt", "dateTime": {"sql": "clock_timestamp() + interval '1 ms'"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StartAt"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StartAt1"], [0, "SetName1"]], "connections": []}
01a209c6-fd57-7000-8002-15d98ad5e98f	Timer	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.655834+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Timer", "interval": "00:00:01"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Timer"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Timer1"], [0, "SetName1"]], "connections": []}
01a209c6-fd58-7000-8002-5262f5932f0f	Cron	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.656507+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Cron", "cronExpression": "* * * * * *"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Cron"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Cron1"], [0, "SetName1"]], "connections": []}
01a209c6-fd50-7000-8000-937d6dd68bd9	Event	1	\N	\N	f	f	invoker	f	841317955	\N	2026-11-23 18:59:25.648889+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Event", "result": {"var": "Answer"}, "eventName": "Go"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd58-7000-8005-81f67a079bd8	HttpEndpoint	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.656983+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"path": "sign", "type": "HttpEndpoint", "supportedMethods": ["POST"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "HttpEndpoint"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "HttpEndpoint1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5b-7000-8000-a01226b6db36	ScheduledCommand	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.659638+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ScheduledCommand", "statement": "INSERT INTO public.notes VALUES ('command')"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ScheduledCommand"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ScheduledCommand1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5c-7000-8001-01bb016cbc3c	BackgroundActivity	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.660478+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES ('background')", "runAsynchronously": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BackgroundActivity"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5d-7000-8000-61cbfa273d4c	ExecuteWorkflow	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.661055+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ExecuteWorkflow", "result": {"var": "Answer"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ExecuteWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ExecuteWorkflow1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5d-7000-8005-b0b6a2429654	DispatchWorkflow	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.661733+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "DispatchWorkflow", "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "DispatchWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "DispatchWorkflow1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5e-7000-8004-b8b1823a396b	BulkDispatchWorkflows	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.662235+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "BulkDispatchWorkflows", "items": {"var": "Items"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BulkDispatchWorkflows"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "BulkDispatchWorkflows1"], [0, "SetName1"]], "connections": []}
01a209c6-fd5e-7000-800b-b389b80f256d	Acme.Ask	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.662718+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"by": {"var": "Answer"}, "type": "Acme.Ask"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Ask"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Ask1"], [0, "SetName1"]], "connections": []}
01a209c6-fd60-7000-8000-54705cfccab7	Acme.Bell	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.664165+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Acme.Bell"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Bell"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Bell1"], [0, "SetName1"]], "connections": []}
01a209c6-fd61-7000-8000-ee47fb9b831f	WorkflowDefinitionActivity	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.665092+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Part"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "WorkflowDefinitionActivity"}	\N	[{"type": "Part", "uses": "01a209c6-fd4f-7000-8000-0bfe22c5d8c7"}]	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Part1"], [0, "SetName1"], [2, "Sequence1"], [4, "Event1"]], "connections": []}
01a209c6-fd61-7000-8003-d2654344fd4a	Composite	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.665953+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"root": [{"type": "Event", "eventName": "Inside"}], "type": "Composite"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Composite"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Composite1"], [2, "Sequence2"], [3, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd64-7000-8000-63153f28fa51	If	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.66806+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"then": {"type": "Event", "eventName": "Inside"}, "type": "If", "condition": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "If"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "If1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd64-7000-8003-b5a87f793621	Switch	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.668439+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Switch", "cases": [{"label": "one", "activity": {"type": "Event", "eventName": "Inside"}, "condition": true}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Switch"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Switch1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd64-7000-8006-a1476e36c66c	While	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.668764+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "result": {"var": "Answer"}, "eventName": "Inside"}, "type": "While", "condition": {"js": "getAnswer() == null"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "While"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "While1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd65-7000-8002-2ad512da5a10	For	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.669243+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"end": 1, "body": {"type": "Event", "eventName": "Inside"}, "type": "For", "start": 1}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "For"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "For1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd65-7000-8005-9ccf16c8c584	ForEach	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.66959+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ForEach", "items": ["only"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd65-7000-8008-cce98a1992e8	ParallelForEach	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.669881+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ParallelForEach", "items": {"var": "Items"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ParallelForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ParallelForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd66-7000-8003-938e08a4be1e	Parallel	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.67018+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Inside"}, {"type": "Event", "eventName": "Go"}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Parallel"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Parallel1"], [2, "Event1"], [2, "Event2"], [0, "SetName1"]], "connections": []}
01a209c6-fd66-7000-8007-ce4f21569618	Fork	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.670466+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Fork", "branches": [{"type": "Event", "eventName": "Inside"}, {"type": "Delay", "timeSpan": "1000.00:00:00"}], "joinMode": "WaitAny"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Fork"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Fork1"], [2, "Event1"], [2, "Delay1"], [0, "SetName1"]], "connections": []}
01a209c6-fd66-7000-800b-0802b6363ed3	Flowchart	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.670815+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["a", "b"]}, {"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}, {"id": "join", "mode": "WaitAll", "type": "FlowJoin"}], "connections": [["fork", "a", "a"], ["fork", "b", "b"], ["a", "join"], ["b", "join"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Flowchart"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "fork"], [2, "a"], [2, "b"], [2, "join"], [0, "SetName1"]], "connections": [[3, "a", 4], [3, "b", 5], [4, "Done", 6], [5, "Done", 6]]}
01a209c6-fd67-7000-8003-e9d778e902a5	FlowchartTokens	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.67128+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"mode": "TokenBased", "type": "Flowchart", "activities": [{"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}], "connections": [["a", "b"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "FlowchartTokens"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "a"], [2, "b"], [0, "SetName1"]], "connections": [[3, "Done", 4]]}
01a209c6-fd67-7000-8006-4096404be2be	StateMachine	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.671598+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [{"to": "Closed", "from": "Open", "trigger": {"type": "Event", "eventName": "Inside"}}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StateMachine"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StateMachine1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd6a-7000-8000-206d9cf177b9	Faulted	1	\N	\N	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.67434+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Faulted"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209c6-fd6b-7000-8000-3eb4c26ce7db	alarm	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.675977+00	\N	{"root": [{"type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "SetName", "value": "done"}], "definitionId": "alarm"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd6d-7000-8000-075dc80dad79	site	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.677042+00	\N	{"root": [{"path": "site/{page}", "type": "HttpEndpoint", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": "Hello"}, {"type": "SetName", "value": "done"}], "definitionId": "site"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "HttpEndpoint1"], [0, "WriteHttpResponse1"], [0, "SetName1"]], "connections": []}
01a209c6-fd6e-7000-8000-64fc88bcea4b	single	1	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.67815+00	\N	{"root": [{"type": "Event", "eventName": "Single"}, {"type": "SetName", "value": "done"}], "options": {"activationStrategy": "Singleton"}, "definitionId": "single"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209c6-fd70-7000-8001-d2e5803eb6e7	Workflow.ScheduledCommand	1	Scheduled command	Runs the command of a schedule made by wf_schedule.	t	t	invoker	t	841317955	\N	2026-11-23 18:59:25.680683+00	\N	{"name": "Scheduled command", "root": {"id": "command", "type": "ScheduledCommand", "retry": {"input": "retry"}, "rowCount": {"output": "rows"}, "topLevel": {"input": "topLevel"}, "statement": {"input": "statement"}}, "outputs": [{"name": "rows", "type": "Int64"}], "description": "Runs the command of a schedule made by wf_schedule.", "definitionId": "Workflow.ScheduledCommand"}	\N	\N	\N	\N	{"activities": [[null, "command"]], "connections": []}
01a209c6-fd72-7000-8000-db7bb9910e0e	clerk's	1	\N	\N	t	t	invoker	t	841317954	\N	2026-11-23 18:59:25.682865+00	\N	{"root": [{"type": "Event", "eventName": "Clerk"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (current_user)"}, {"type": "SetName", "value": "done"}], "definitionId": "clerk's"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209c6-fd73-7000-8002-4cfed8aa39b9	Event	2	\N	\N	t	t	invoker	f	841317955	\N	2026-11-23 18:59:25.68379+00	\N	{"root": [], "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"]], "connections": []}
\.


--
-- Data for Name: event_grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.event_grants (publisher, listener) FROM stdin;
\.


--
-- Data for Name: execution_log; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.execution_log (instance_id, seq, created_at, events) FROM stdin;
01a209c6-fd51-7000-8000-cc8ba3558d2f	0	2026-11-23 18:59:25.649399+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902064576656e7431054576656e7401020101a209c6fd5170008001dc84620cc48b000200000000
01a209c6-fd53-7000-8000-b3d2543b3d29	0	2026-11-23 18:59:25.651292+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020852756e5461736b310752756e5461736b01020101a209c6fd5370008001561b2f91b974000200000000
01a209c6-fd54-7000-8001-6c378238fc08	0	2026-11-23 18:59:25.652711+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020644656c6179310544656c6179010200012a7b22526573756d654174223a22323032362d31312d32335431383a35393a32352e3635333731315a227d09010201020101a209c6fd5470008002a419d45d47cb000200000000
01a209c6-fd57-7000-8000-1f99de6a2ad1	0	2026-11-23 18:59:25.655343+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020853746172744174310753746172744174010200012b7b22457865637574654174223a22323032362d31312d32335431383a35393a32352e3635363534335a227d09010201020101a209c6fd577000800184f93c108faf000200000000
01a209c6-fd58-7000-8000-0e949d38a48c	0	2026-11-23 18:59:25.65623+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020654696d6572310554696d6572010200012a7b22526573756d654174223a22323032362d31312d32335431383a35393a32362e3635363233305a227d09010201020101a209c6fd587000800198369c5776d4000200000000
01a209c6-fd58-7000-8003-e98a0e911024	0	2026-11-23 18:59:25.65681+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020543726f6e310443726f6e01020001437b2243726f6e45787072657373696f6e223a222a202a202a202a202a202a222c22457865637574654174223a22323032362d31312d32335431383a35393a32365a227d09010201020101a209c6fd5870008004aa15f84d86a0000200000000
01a209c6-fd5a-7000-8000-3436df763659	0	2026-11-23 18:59:25.65892+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020d48747470456e64706f696e74310c48747470456e64706f696e7401020101a209c6fd5a70008001ca81380d9f8f000200000000
01a209c6-fd5c-7000-8000-393f4c726d43	0	2026-11-23 18:59:25.660165+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000a02115363686564756c6564436f6d6d616e6431105363686564756c6564436f6d6d616e64010200000a02085365744e616d6531075365744e616d65010300000a0100010000000300000000
01a209c6-fd5c-7000-8002-2c3112faacbd	0	2026-11-23 18:59:25.660892+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020453716c310353716c01020101a209c6fd5c70008003d38a78f7cc24000200000000
01a209c6-fd5d-7000-8001-62c28bcb8858	0	2026-11-23 18:59:25.66133+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021045786563757465576f726b666c6f77310f45786563757465576f726b666c6f7701020101a209c6fd5d70008003bed0edee6b4a00110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303963362d666435642d373030302d383030322d323533346231656665353665227d0200000000
01a209c6-fd5d-7000-8002-2534b1efe56e	0	2026-11-23 18:59:25.66133+00	\\x0204000000000007020953657175656e6365310853657175656e63650100000009020361736b0752756e5461736b01010101a209c6fd5d70008004b88ac69b0486000200000000
01a209c6-fd5e-7000-8000-580f0325c19c	0	2026-11-23 18:59:25.662032+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902114469737061746368576f726b666c6f7731104469737061746368576f726b666c6f7701020101a209c6fd5e70008002aed1b60ae90900110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303963362d666435652d373030302d383030312d383034633432373435326136227d0200000000
01a209c6-fd5e-7000-8005-98f180dc5063	0	2026-11-23 18:59:25.662496+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021642756c6b4469737061746368576f726b666c6f7773311542756c6b4469737061746368576f726b666c6f777301020101a209c6fd5e70008006edbc712cbd9a00110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303963362d666435652d373030302d383030372d616534343638323730356438227d110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303963362d666435652d373030302d383030382d383061353662356230306537227d0200000000
01a209c6-fd5f-7000-8000-eee9f70917d1	0	2026-11-23 18:59:25.663326+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020441736b310841636d652e41736b01020101a209c6fd5f70008001b67a10e73956000200000000
01a209c6-fd60-7000-8001-2306981df3e4	0	2026-11-23 18:59:25.664564+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020542656c6c310941636d652e42656c6c01020101a209c6fd60700080028b1f88a3f4c9000200000000
01a209c6-fd61-7000-8001-cf186c15261c	0	2026-11-23 18:59:25.665815+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702055061727431045061727401020000070100010300000902064576656e7431054576656e7401040101a209c6fd6170008002968295ee772a000200000000
01a209c6-fd62-7000-8000-c2ef0baf3641	0	2026-11-23 18:59:25.666247+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a436f6d706f736974653109436f6d706f736974650102000007020953657175656e6365320853657175656e6365010300000902064576656e7431054576656e7401040101a209c6fd6270008001a30c28818911000200000000
01a209c6-fd64-7000-8001-3be931a49c52	0	2026-11-23 18:59:25.668329+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070203496631024966010200000902064576656e7431054576656e7401030101a209c6fd647000800259fa036c6a05000200000000
01a209c6-fd64-7000-8004-7fe316e1348a	0	2026-11-23 18:59:25.668664+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702075377697463683106537769746368010200000902064576656e7431054576656e7401030101a209c6fd647000800548257fdf934b000200000000
01a209c6-fd65-7000-8000-3318d257af6c	0	2026-11-23 18:59:25.669116+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702065768696c6531055768696c65010200000902064576656e7431054576656e7401030101a209c6fd6570008001ec522b45d810000200000000
01a209c6-fd65-7000-8003-ca4156300fdb	0	2026-11-23 18:59:25.669491+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070204466f723103466f72010200000902064576656e7431054576656e7401030101a209c6fd65700080042c06ae75f0c1000200000000
01a209c6-fd65-7000-8006-4a9981313f02	0	2026-11-23 18:59:25.669791+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070208466f72456163683107466f7245616368010200000902064576656e7431054576656e7401030101a209c6fd6570008007b881867204d7000200000000
01a209c6-fd66-7000-8000-c508db595ed0	0	2026-11-23 18:59:25.670075+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070210506172616c6c656c466f7245616368310f506172616c6c656c466f7245616368010200000902064576656e7431054576656e7401030101a209c6fd6670008001d2ec87080ddd0009010301040101a209c6fd66700080023d43b319a6e4000200000000
01a209c6-fd66-7000-8004-f7b3b13239b6	0	2026-11-23 18:59:25.670366+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070209506172616c6c656c3108506172616c6c656c010200000902064576656e7431054576656e7401030101a209c6fd66700080059074ac12ab44000902064576656e7432054576656e7401040101a209c6fd66700080061cb2344a7aec000200000000
01a209c6-fd66-7000-8008-d6d747ab143c	0	2026-11-23 18:59:25.670664+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070205466f726b3104466f726b010200000902064576656e7431054576656e7401030101a209c6fd66700080099a60749c6fb3000f020644656c6179310544656c6179010400012a7b22526573756d654174223a22323032392d30382d31395431383a35393a32352e3637303636345a227d09010401040101a209c6fd667000800a69b439bf7624000200000000
01a209c6-fd67-7000-8000-3d7f2900483e	0	2026-11-23 18:59:25.671104+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f776368617274010200000a0204666f726b08466c6f77466f726b01030001095b2261222c2262225d09020161054576656e7401040101a209c6fd6770008001db08f19faa3300090201620752756e5461736b01050101a209c6fd6770008002b154a50d042b000200000000
01a209c6-fd67-7000-8004-aa9d8004c6f2	0	2026-11-23 18:59:25.6715+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f7763686172740102000009020161054576656e7401030101a209c6fd6770008005a7d4820064c6000200000000
01a209c6-fd67-7000-8007-140ebb94355a	0	2026-11-23 18:59:25.671792+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020d53746174654d616368696e65310c53746174654d616368696e6501020001107b227374617465223a224f70656e227d070102010200000902064576656e7431054576656e7401030101a209c6fd67700080089f3f25ae122d000200000000
01a209c6-fd6a-7000-8001-9a9c2d7cc1fc	0	2026-11-23 18:59:25.674768+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000c020453716c310353716c01020001317b226d657373616765223a226469766973696f6e206279207a65726f222c2273716c7374617465223a223232303132227d0400000000
01a209c6-fd6e-7000-8001-54bf2458bb97	0	2026-11-23 18:59:25.678446+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209c6fd6e70008002923e35b6ba9c000200000000
01a209c6-fd73-7000-8000-4a1edf7f0741	0	2026-11-23 18:59:25.683273+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209c6fd737000800137225d7c7b2a000200000000
\.


--
-- Data for Name: grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.grants (definition_id, role, privilege, grantor) FROM stdin;
alarm	841317954	start	841317955
alarm	841317954	read	841317955
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.identity (system_identifier, database) FROM stdin;
7711443542239568263	16384
\.


--
-- Data for Name: incidents; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, resolved_at, sqlstate, message, detail, hint, context) FROM stdin;
01a209c6-fd6a-7000-8002-944fbe61fbc1	01a209c6-fd6a-7000-8001-9a9c2d7cc1fc	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	01a209c6-fd6a-7000-8001-9a9c2d7cc1fe	2026-11-23 18:59:25.674768+00	\N	22012	division by zero	\N	\N	SQL statement "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"
\.


--
-- Data for Name: instances; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.instances (id, definition_version_id, created_at, owner, version, definition_id, parent_instance_id, parent_bookmark_id, schedule_id, correlation_id, name, activation_key, input, status, sub_status, incident_count, updated_at, finished_at, state, variables, output) FROM stdin;
01a209c6-fd51-7000-8000-cc8ba3558d2f	01a209c6-fd50-7000-8000-937d6dd68bd9	2026-11-23 18:59:25.649399+00	841317955	1	Event	\N	\N	\N	Event	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.649399+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd53-7000-8000-b3d2543b3d29	01a209c6-fd52-7000-8000-70312b256f43	2026-11-23 18:59:25.651292+00	841317955	1	RunTask	\N	\N	\N	RunTask	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.651292+00	\N	\\x0202000000000000000000010402020100000100000000000301010201067461736b4964110101a209c6fd5370008001561b2f91b974000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd54-7000-8001-6c378238fc08	01a209c6-fd54-7000-8000-7436709ab3a7	2026-11-23 18:59:25.652711+00	841317955	1	Delay	\N	\N	\N	Delay	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.652711+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd57-7000-8000-1f99de6a2ad1	01a209c6-fd55-7000-8000-4448b23cff97	2026-11-23 18:59:25.655343+00	841317955	1	StartAt	\N	\N	\N	StartAt	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.655343+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd58-7000-8000-0e949d38a48c	01a209c6-fd57-7000-8002-15d98ad5e98f	2026-11-23 18:59:25.65623+00	841317955	1	Timer	\N	\N	\N	Timer	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.65623+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd58-7000-8003-e98a0e911024	01a209c6-fd58-7000-8002-5262f5932f0f	2026-11-23 18:59:25.65681+00	841317955	1	Cron	\N	\N	\N	Cron	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.65681+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5a-7000-8000-3436df763659	01a209c6-fd58-7000-8005-81f67a079bd8	2026-11-23 18:59:25.65892+00	841317955	1	HttpEndpoint	\N	\N	\N	HttpEndpoint	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.65892+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5c-7000-8000-393f4c726d43	01a209c6-fd5b-7000-8000-a01226b6db36	2026-11-23 18:59:25.660165+00	841317955	1	ScheduledCommand	\N	\N	\N	ScheduledCommand	done	\N	{}	Finished	Finished	0	2026-11-23 18:59:25.660165+00	2026-11-23 18:59:25.660165+00	\\x0200040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5c-7000-8002-2c3112faacbd	01a209c6-fd5c-7000-8001-01bb016cbc3c	2026-11-23 18:59:25.660892+00	841317955	1	BackgroundActivity	\N	\N	\N	BackgroundActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.660892+00	\N	\\x020200000000000000000001040202010000010000000007030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5d-7000-8001-62c28bcb8858	01a209c6-fd5d-7000-8000-61cbfa273d4c	2026-11-23 18:59:25.66133+00	841317955	1	ExecuteWorkflow	\N	\N	\N	ExecuteWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.66133+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5d-7000-8002-2534b1efe56e	01a209c6-fd3c-7000-8000-a05a62e62dad	2026-11-23 18:59:25.66133+00	841317955	1	child	01a209c6-fd5d-7000-8001-62c28bcb8858	01a209c6-fd5d-7000-8003-bed0edee6b4a	\N	\N	\N	\N	{"ParentInstanceId": "01a209c6-fd5d-7000-8001-62c28bcb8858"}	Running	Suspended	0	2026-11-23 18:59:25.66133+00	\N	\\x0202000000000000000000010201010100000100000000000201010101067461736b4964110101a209c6fd5d70008004b88ac69b0486000000	{}	\N
01a209c6-fd5e-7000-8000-580f0325c19c	01a209c6-fd5d-7000-8005-b0b6a2429654	2026-11-23 18:59:25.662032+00	841317955	1	DispatchWorkflow	\N	\N	\N	DispatchWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.662032+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5e-7000-8001-804c427452a6	01a209c6-fd3c-7000-8000-a05a62e62dad	2026-11-23 18:59:25.662032+00	841317955	1	child	01a209c6-fd5e-7000-8000-580f0325c19c	01a209c6-fd5e-7000-8002-aed1b60ae909	\N	\N	\N	\N	{"ParentInstanceId": "01a209c6-fd5e-7000-8000-580f0325c19c"}	Running	Pending	0	2026-11-23 18:59:25.662032+00	\N	\\x0200000000000000	{}	\N
01a209c6-fd5e-7000-8005-98f180dc5063	01a209c6-fd5e-7000-8004-b8b1823a396b	2026-11-23 18:59:25.662496+00	841317955	1	BulkDispatchWorkflows	\N	\N	\N	BulkDispatchWorkflows	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.662496+00	\N	\\x02020000000000000000000104020201000001000000000104030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd5e-7000-8007-ae44682705d8	01a209c6-fd3c-7000-8000-a05a62e62dad	2026-11-23 18:59:25.662496+00	841317955	1	child	01a209c6-fd5e-7000-8005-98f180dc5063	01a209c6-fd5e-7000-8006-edbc712cbd9a	\N	\N	\N	\N	{"Item": "a", "ParentInstanceId": "01a209c6-fd5e-7000-8005-98f180dc5063"}	Running	Pending	0	2026-11-23 18:59:25.662496+00	\N	\\x0200000000000000	{}	\N
01a209c6-fd5e-7000-8008-80a56b5b00e7	01a209c6-fd3c-7000-8000-a05a62e62dad	2026-11-23 18:59:25.662496+00	841317955	1	child	01a209c6-fd5e-7000-8005-98f180dc5063	01a209c6-fd5e-7000-8006-edbc712cbd9a	\N	\N	\N	\N	{"Item": "b", "ParentInstanceId": "01a209c6-fd5e-7000-8005-98f180dc5063"}	Running	Pending	0	2026-11-23 18:59:25.662496+00	\N	\\x0200000000000000	{}	\N
01a209c6-fd5f-7000-8000-eee9f70917d1	01a209c6-fd5e-7000-800b-b389b80f256d	2026-11-23 18:59:25.663326+00	841317955	1	Acme.Ask	\N	\N	\N	Acme.Ask	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.663326+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd60-7000-8001-2306981df3e4	01a209c6-fd60-7000-8000-54705cfccab7	2026-11-23 18:59:25.664564+00	841317955	1	Acme.Bell	\N	\N	\N	Acme.Bell	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.664564+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd61-7000-8001-cf186c15261c	01a209c6-fd61-7000-8000-ee47fb9b831f	2026-11-23 18:59:25.665815+00	841317955	1	WorkflowDefinitionActivity	\N	\N	\N	WorkflowDefinitionActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.665815+00	\N	\\x0204000000000000000000010402020100000000000000000304010200000000000001020405010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd62-7000-8000-c2ef0baf3641	01a209c6-fd61-7000-8003-d2654344fd4a	2026-11-23 18:59:25.666247+00	841317955	1	Composite	\N	\N	\N	Composite	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.666247+00	\N	\\x0204000000000000000000010402020100000000000000000303010200000000000001020404010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd64-7000-8001-3be931a49c52	01a209c6-fd64-7000-8000-63153f28fa51	2026-11-23 18:59:25.668329+00	841317955	1	If	\N	\N	\N	If	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.668329+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040101020106726573756c7404747275650102000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd64-7000-8004-7fe316e1348a	01a209c6-fd64-7000-8003-b5a87f793621	2026-11-23 18:59:25.668664+00	841317955	1	Switch	\N	\N	\N	Switch	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.668664+00	\N	\\x0203000000000000000000010402020100000000000000010203030102000100000000000401010201066f757470757405226f6e6522000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd65-7000-8000-3318d257af6c	01a209c6-fd64-7000-8006-a1476e36c66c	2026-11-23 18:59:25.669116+00	841317955	1	While	\N	\N	\N	While	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.669116+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd65-7000-8003-ca4156300fdb	01a209c6-fd65-7000-8002-2ad512da5a10	2026-11-23 18:59:25.669491+00	841317955	1	For	\N	\N	\N	For	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.669491+00	\N	\\x02030000000000000000000104020201000000000000000202020201030301020001000000010c43757272656e7456616c756501310004010102010c63757272656e7456616c75650131000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd65-7000-8006-4a9981313f02	01a209c6-fd65-7000-8005-9ccf16c8c584	2026-11-23 18:59:25.669791+00	841317955	1	ForEach	\N	\N	\N	ForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.669791+00	\N	\\x02030000000000000000000104020201000000000000000100030301020001000000020c43757272656e7456616c756506226f6e6c79220c43757272656e74496e64657801300004010102010c63757272656e7456616c756506226f6e6c7922000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd66-7000-8000-c508db595ed0	01a209c6-fd65-7000-8008-cce98a1992e8	2026-11-23 18:59:25.670075+00	841317955	1	ParallelForEach	\N	\N	\N	ParallelForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.670075+00	\N	\\x020400000000000000000001040202010000000000000000030301020001000000020c43757272656e7456616c7565032261220c43757272656e74496e646578013000040301020001000000020c43757272656e7456616c7565032262220c43757272656e74496e646578013100050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd66-7000-8004-f7b3b13239b6	01a209c6-fd66-7000-8003-938e08a4be1e	2026-11-23 18:59:25.670366+00	841317955	1	Parallel	\N	\N	\N	Parallel	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.670366+00	\N	\\x0204000000000000000000010402020100000000000000010403030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd66-7000-8008-d6d747ab143c	01a209c6-fd66-7000-8007-ce4f21569618	2026-11-23 18:59:25.670664+00	841317955	1	Fork	\N	\N	\N	Fork	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.670664+00	\N	\\x0204000000000000000000010402020100000000000000010203030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd67-7000-8000-3d7f2900483e	01a209c6-fd66-7000-800b-0802b6363ed3	2026-11-23 18:59:25.671104+00	841317955	1	Flowchart	\N	\N	\N	Flowchart	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.671104+00	\N	\\x020400000000000000000001040202010000000000000004000101020303040401020001000000000005050102000100000000000601010501067461736b4964110101a209c6fd6770008002b154a50d042b000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd67-7000-8004-aa9d8004c6f2	01a209c6-fd67-7000-8003-e9d778e902a5	2026-11-23 18:59:25.6715+00	841317955	1	FlowchartTokens	\N	\N	\N	FlowchartTokens	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.6715+00	\N	\\x020300000000000000000001040202010000000000000006000000010001000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd67-7000-8007-140ebb94355a	01a209c6-fd67-7000-8006-4096404be2be	2026-11-23 18:59:25.671792+00	841317955	1	StateMachine	\N	\N	\N	StateMachine	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.671792+00	\N	\\x020300000000000000000001040202010000000000000001000303010200010001000000040101020105737461746506224f70656e22000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd6a-7000-8001-9a9c2d7cc1fc	01a209c6-fd6a-7000-8000-206d9cf177b9	2026-11-23 18:59:25.674768+00	841317955	1	Faulted	\N	\N	\N	Faulted	\N	\N	{}	Finished	Faulted	1	2026-11-23 18:59:25.674768+00	\N	\\x020200000000000100000001040202010001000100000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209c6-fd6e-7000-8001-54bf2458bb97	01a209c6-fd6e-7000-8000-64fc88bcea4b	2026-11-23 18:59:25.678446+00	841317955	1	single	\N	\N	\N	Singleton	\N	singleton:single	{}	Running	Suspended	0	2026-11-23 18:59:25.678446+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
01a209c6-fd73-7000-8000-4a1edf7f0741	01a209c6-fd72-7000-8000-db7bb9910e0e	2026-11-23 18:59:25.683273+00	841317954	1	clerk's	\N	\N	\N	Clerk	\N	\N	{}	Running	Suspended	0	2026-11-23 18:59:25.683273+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
\.


--
-- Data for Name: owners; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.owners (id, role, same_as) FROM stdin;
841317954	7711443542239568263:16767:clerk	\N
841317955	7711443542239568263:10:postgres	\N
\.


--
-- Data for Name: paths; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.paths (segment, owner) FROM stdin;
sign	841317955
site	841317955
\.


--
-- Data for Name: tasks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.tasks (id, instance_id, created_at, activity_id, name, correlation_id, payload, status, completed_at, result) FROM stdin;
01a209c6-fd53-7000-8001-561b2f91b974	01a209c6-fd53-7000-8000-b3d2543b3d29	2026-11-23 18:59:25.651292+00	RunTask1	Sign	RunTask	{"of": "Ada"}	Open	\N	\N
01a209c6-fd5d-7000-8004-b88ac69b0486	01a209c6-fd5d-7000-8002-2534b1efe56e	2026-11-23 18:59:25.66133+00	ask	Child	\N	\N	Open	\N	\N
01a209c6-fd67-7000-8002-b154a50d042b	01a209c6-fd67-7000-8000-3d7f2900483e	2026-11-23 18:59:25.671104+00	b	Sign	Flowchart	\N	Open	\N	\N
\.


--
-- Data for Name: triggers; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.triggers (id, definition_id, definition_version_id, version, activity_id, node_id, activity_type, name, hash, hash_key, payload, created_at, next_fire_at, scheduled_at, schedule, active, schedule_name, owner, input, correlation_id, last_fire_at, last_instance_id, queued, skipped, missed, attempts, last_error) FROM stdin;
01a209c6-fd6b-7000-8001-8e5e985ebdbf	alarm	01a209c6-fd6b-7000-8000-3eb4c26ce7db	1	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	\\x8d74d33b50af026889633d9380975fbafa0e4f0e5d644860b3436c21b341f814	-8253739965353098648	{"EventName": "Alarm"}	2026-11-23 18:59:25.675977+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
01a209c6-fd6d-7000-8001-f97758453e26	site	01a209c6-fd6d-7000-8000-075dc80dad79	1	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	\\x7de9e9c6d0e2183583181a16809fe169982ca90e479abf85edf0e24d065f26e3	9073039964431849525	{"Path": "/site/{page}", "Route": "site/LP|site|site/{page}|get", "Method": "get"}	2026-11-23 18:59:25.677042+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
01a209c6-fd70-7000-8000-64783a39f94b	Workflow.ScheduledCommand	01a209c6-fd70-7000-8001-d2e5803eb6e7	1			Workflow.Schedule	Workflow.Schedule	\\x501555e76644421c8cef67e79cf615476e28dca6534842de85ef4c2e5cdc8648	5770612949886714396	\N	2026-11-23 18:59:25.680683+00	2026-11-23 19:59:25.680683+00	2026-11-23 19:59:25.680683+00	{"text": "every 1 hour", "when": {"every": {"start": "2026-11-23T18:59:25.680683Z", "interval": "01:00:00"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	hourly	841317955	{"retry": false, "topLevel": false, "statement": "INSERT INTO public.notes VALUES ('hourly')"}	\N	\N	\N	0	0	0	0	\N
01a209c6-fd71-7000-8000-68a5d0ae83ca	alarm	01a209c6-fd6b-7000-8000-3eb4c26ce7db	1			Workflow.Schedule	Workflow.Schedule	\\xcf304193392663d0d543b5ad034dd648889c51d4d0f18a4776fbc09d72027046	-3517239208401542192	\N	2026-11-23 18:59:25.681661+00	2026-11-23 19:59:25.681661+00	2026-11-23 19:59:25.681661+00	{"text": "every 1 hour", "when": {"every": {"start": "2026-11-23T18:59:25.681661Z", "interval": "01:00:00"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	report	841317955	{}	\N	\N	\N	0	0	0	0	\N
\.


--
-- Name: owners_id_seq; Type: SEQUENCE SET; Schema: workflow; Owner: postgres
--

SELECT pg_catalog.setval('workflow.owners_id_seq', 841317955, true);


--
-- Name: FUNCTION _adopt_database(dry_run boolean, overdue text, owners jsonb); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._adopt_database(dry_run boolean, overdue text, owners jsonb) TO clerk;


--
-- Name: FUNCTION wf_alter_schedule(name text, schedule text, command text, active boolean, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, input jsonb, top_level boolean, retry boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_alter_schedule(name text, schedule text, command text, active boolean, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, input jsonb, top_level boolean, retry boolean) TO clerk;


--
-- Name: FUNCTION wf_cancel(instance_id uuid, reason text, force boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_cancel(instance_id uuid, reason text, force boolean) TO clerk;


--
-- Name: FUNCTION wf_complete_task(task_id uuid, result jsonb, on_fault text, token uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_complete_task(task_id uuid, result jsonb, on_fault text, token uuid) TO clerk;


--
-- Name: FUNCTION wf_define(definition jsonb, publish boolean, allow_unknown boolean, OUT definition_id text, OUT version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_define(definition jsonb, publish boolean, allow_unknown boolean, OUT definition_id text, OUT version integer) TO clerk;


--
-- Name: FUNCTION wf_delete_definition(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_delete_definition(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_delete_instance(instance_id uuid, force boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_delete_instance(instance_id uuid, force boolean) TO clerk;


--
-- Name: FUNCTION wf_diagram(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_diagram(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_enqueue_bookmark(name text, stimulus jsonb, instance_id uuid, correlation_id text, activity_instance_id uuid, bookmark_id uuid, activity_type text, activity_id text, hash bytea, input jsonb, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_enqueue_bookmark(name text, stimulus jsonb, instance_id uuid, correlation_id text, activity_instance_id uuid, bookmark_id uuid, activity_type text, activity_id text, hash bytea, input jsonb, keep_for interval) TO clerk;


--
-- Name: FUNCTION _explain(instance uuid); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._explain(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_explain(instance uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_explain(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_export(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_export(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION _grant(definition_id text, role text, privileges text[]); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._grant(definition_id text, role text, privileges text[]) TO clerk;


--
-- Name: FUNCTION wf_grant(definition_id text, role name, privileges text[]); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_grant(definition_id text, role name, privileges text[]) TO clerk;


--
-- Name: FUNCTION _grant_events(listener text, publisher text); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._grant_events(listener text, publisher text) TO clerk;


--
-- Name: FUNCTION wf_grant_events(listener name, publisher name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_grant_events(listener name, publisher name) TO clerk;


--
-- Name: FUNCTION wf_http_request(method text, path text, headers jsonb, query jsonb, body bytea); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_http_request(method text, path text, headers jsonb, query jsonb, body bytea) TO clerk;


--
-- Name: FUNCTION wf_publish(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_publish(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_publish_event(name text, payload jsonb, correlation_id text, instance_id uuid, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_publish_event(name text, payload jsonb, correlation_id text, instance_id uuid, keep_for interval) TO clerk;


--
-- Name: FUNCTION wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer) TO clerk;


--
-- Name: FUNCTION wf_register_activity(type text, handler regprocedure, kind text, payloads regprocedure, inputs jsonb, outputs jsonb, outcomes text[], description text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_register_activity(type text, handler regprocedure, kind text, payloads regprocedure, inputs jsonb, outputs jsonb, outcomes text[], description text) TO clerk;


--
-- Name: FUNCTION wf_replay(dead_letter_id uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_replay(dead_letter_id uuid) TO clerk;


--
-- Name: FUNCTION wf_resume(bookmark_id uuid, input jsonb, missing_ok boolean, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_resume(bookmark_id uuid, input jsonb, missing_ok boolean, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_retract(definition_id text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_retract(definition_id text) TO clerk;


--
-- Name: FUNCTION wf_retry(instance_id uuid, activity_ids text[], on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_retry(instance_id uuid, activity_ids text[], on_fault text) TO clerk;


--
-- Name: FUNCTION _revoke(definition_id text, role text, privileges text[]); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._revoke(definition_id text, role text, privileges text[]) TO clerk;


--
-- Name: FUNCTION wf_revoke(definition_id text, role name, privileges text[]); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_revoke(definition_id text, role name, privileges text[]) TO clerk;


--
-- Name: FUNCTION _revoke_events(listener text, publisher text); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._revoke_events(listener text, publisher text) TO clerk;


--
-- Name: FUNCTION wf_revoke_events(listener name, publisher name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_revoke_events(listener name, publisher name) TO clerk;


--
-- Name: FUNCTION wf_run(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_run(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_run_due(max integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_run_due(max integer) TO clerk;


--
-- Name: FUNCTION wf_schedule(name text, schedule text, command text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean, top_level boolean, retry boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule(name text, schedule text, command text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean, top_level boolean, retry boolean) TO clerk;


--
-- Name: FUNCTION wf_schedule_run_now(name text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule_run_now(name text) TO clerk;


--
-- Name: FUNCTION wf_schedule_workflow(name text, schedule text, definition text, input jsonb, correlation_id text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule_workflow(name text, schedule text, definition text, input jsonb, correlation_id text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean) TO clerk;


--
-- Name: FUNCTION wf_send_stimulus(name text, stimulus jsonb, input jsonb, correlation_id text, instance_id uuid, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_send_stimulus(name text, stimulus jsonb, input jsonb, correlation_id text, instance_id uuid, keep_for interval) TO clerk;


--
-- Name: FUNCTION wf_set_owner(kind text, id text, role name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_set_owner(kind text, id text, role name) TO clerk;


--
-- Name: FUNCTION wf_start(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_start(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_svg(instance uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_svg(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_svg(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_svg(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_unschedule(name text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_unschedule(name text) TO clerk;


--
-- Name: TABLE notes; Type: ACL; Schema: public; Owner: postgres
--

GRANT SELECT,INSERT ON TABLE public.notes TO clerk;


--
-- PostgreSQL database dump complete
--


