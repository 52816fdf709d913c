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
\.


--
-- Data for Name: activity_types; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.activity_types (type, handler, handler_owner, kind, payloads, payloads_owner, inputs, outputs, outcomes, description, owner, created_at) FROM stdin;
Acme.Ask	public.ask	883885276	action	\N	\N	\N	[{"name": "by", "type": "String"}]	\N	\N	883885276	2026-11-23 19:59:56.138025+00
Acme.Bell	public.ring	883885276	trigger	public.bells	883885276	\N	\N	\N	\N	883885276	2026-11-23 19:59:56.139277+00
\.


--
-- Data for Name: bookmark_queue; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmark_queue (id, shape, match_key, sender, attempts, created_at, expires_at, not_before, deferred_for, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input) FROM stdin;
01a209fe-630e-7000-8003-86c5afb204bd	160	4071388769733518392	883885276	0	2026-11-23 19:59:56.174864+00	2125-06-17 19:59:56.174864+00	\N	\N	\N	\N	\N	\N	\N	to-come	f	\N	kept	\N	\N	{"by": "early bird"}
\.


--
-- Data for Name: bookmarks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, callback_owner, payload, metadata, attempts) FROM stdin;
01a209fe-62fb-7000-8001-881069197e88	01a209fe-62fb-7000-8000-1fbd22080742	01a209fe-62fb-7000-8000-1fbd22080740	-8700966495242961425	2026-11-23 19:59:56.155143+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Event	\N	\N	{"EventName": "Go"}	\N	\N
01a209fe-62fc-7000-8001-10f397e95cc4	01a209fe-62fc-7000-8000-e604ece33c43	01a209fe-62fc-7000-8000-e604ece33c41	\N	2026-11-23 19:59:56.156228+00	\N	t	t	\N	RunTask1	Workflow1:Sequence1:RunTask1	Elsa.RunTask	Elsa.RunTask	RunTask	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209fe-62fd-7000-8001-9338c5062ca8	01a209fe-62fd-7000-8000-615f4eb51366	01a209fe-62fd-7000-8000-615f4eb51364	-9188114748274455621	2026-11-23 19:59:56.157031+00	2026-11-23 19:59:56.158031+00	t	t	\\x807d42513192cbbb3523a5c80a5ddc49fbe325d14258a5c0892dce29d36abf09	Delay1	Workflow1:Sequence1:Delay1	Elsa.Delay	Elsa.Delay	Delay	\N	\N	{"ResumeAt": "2026-11-23T19:59:56.158031+00:00"}	\N	\N
01a209fe-62fe-7000-8001-246e926a5a92	01a209fe-62fe-7000-8000-1a8d2b128cf2	01a209fe-62fe-7000-8000-1a8d2b128cf0	-2836217394312039989	2026-11-23 19:59:56.158662+00	2026-11-23 19:59:56.159801+00	t	t	\\xd8a3bb4e8a3f31cb80366ab12bcbc66166c201a2504dca2de034f5a02ccae1b7	StartAt1	Workflow1:Sequence1:StartAt1	Elsa.StartAt	Elsa.StartAt	StartAt	\N	\N	{"ExecuteAt": "2026-11-23T19:59:56.159801+00:00"}	\N	\N
01a209fe-62ff-7000-8001-d47b5bb3261d	01a209fe-62ff-7000-8000-bd3224985df5	01a209fe-62ff-7000-8000-bd3224985df7	3708718361565773636	2026-11-23 19:59:56.159189+00	2026-11-23 19:59:57.159189+00	t	t	\\x337803b34118bf4427a1a5424f9a1c8b68726c823761ea4b543841a6c9a6f14a	Timer1	Workflow1:Sequence1:Timer1	Elsa.Timer	Elsa.Timer	Timer	\N	\N	{"ResumeAt": "2026-11-23T19:59:57.159189+00:00"}	\N	\N
01a209fe-62ff-7000-8004-098ec5520a5d	01a209fe-62ff-7000-8003-caf84de4d7dc	01a209fe-62ff-7000-8003-caf84de4d7de	5684125297602961950	2026-11-23 19:59:56.15954+00	2026-11-23 19:59:57+00	t	t	\\x4ee211d7a66fa21e3ea3c420e14965b345a3f63f163f0807b2ef02f31dd53285	Cron1	Workflow1:Sequence1:Cron1	Elsa.Cron	Elsa.Cron	Cron	\N	\N	{"ExecuteAt": "2026-11-23T19:59:57+00:00", "CronExpression": "* * * * * *"}	\N	\N
01a209fe-6300-7000-8001-cbe518b8c0fb	01a209fe-6300-7000-8000-b061cdcaa1f6	01a209fe-6300-7000-8000-b061cdcaa1f4	-991020432082167739	2026-11-23 19:59:56.160234+00	\N	t	t	\\xf23f302aec9698459aee72b2488a3d43cb7548bce848cf82bdd06507d6636969	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	HttpEndpoint	\N	\N	{"Path": "/sign", "Route": "sign/L|sign|sign|post", "Method": "post"}	\N	\N
01a209fe-6301-7000-8001-39c91cb9868f	01a209fe-6301-7000-8000-297614260a03	01a209fe-6301-7000-8000-297614260a01	-8420527164749308939	2026-11-23 19:59:56.161053+00	2026-11-23 19:59:56.161053+00	t	t	\\x8b24472853971bf5d7f3c63284e1afd44620054d5432016f010273598de4b129	ScheduledCommand1	Workflow1:Sequence1:ScheduledCommand1	Workflow.ScheduledCommand	Workflow.ScheduledCommand	ScheduledCommand	\N	\N	{"retry": false, "statement": "INSERT INTO public.notes VALUES ('command')"}	\N	\N
01a209fe-6301-7000-8004-2f9d3ed41c1e	01a209fe-6301-7000-8003-71a07ea2984d	01a209fe-6301-7000-8003-71a07ea2984f	-2214259402753984860	2026-11-23 19:59:56.161459+00	2026-11-23 19:59:56.161459+00	t	f	\\xe1455ece0a47b6a4ebb3c31d81e1c87318e5dacff9f057dfc1da3918919897f3	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	BackgroundActivity	BackgroundActivity	\N	\N	\N	\N	\N
01a209fe-6301-7000-8008-5c1601dc0561	01a209fe-6301-7000-8006-ce4bfcdad5eb	01a209fe-6301-7000-8006-ce4bfcdad5e9	3603453888927912336	2026-11-23 19:59:56.161766+00	\N	t	t	\\x32020a38560c5190a85ec023c7175dd29a6d7858bb94ddc2c5615893c5f4403b	ExecuteWorkflow1	Workflow1:Sequence1:ExecuteWorkflow1	Elsa.ExecuteWorkflow	Elsa.ExecuteWorkflow	ExecuteWorkflow	\N	\N	{"ChildInstanceId": "01a209fe-6301-7000-8007-9efadae84af3"}	\N	\N
01a209fe-6301-7000-8009-880ae4d3b43e	01a209fe-6301-7000-8007-9efadae84af3	01a209fe-6301-7000-8007-9efadae84af2	\N	2026-11-23 19:59:56.161766+00	\N	t	t	\N	ask	Workflow1:Sequence1:ask	Elsa.RunTask	Elsa.RunTask	\N	\N	\N	{"TaskName": "Child"}	\N	\N
01a209fe-6302-7000-8003-f42c86dd9cfa	01a209fe-6302-7000-8001-322c451a6196	01a209fe-6302-7000-8001-322c451a6194	-527991267358046078	2026-11-23 19:59:56.162221+00	\N	t	t	\\xf8ac32bd609d888276e093b19f838f8c2549d6052c9b33dd568727469b6035f3	DispatchWorkflow1	Workflow1:Sequence1:DispatchWorkflow1	Elsa.DispatchWorkflow	Elsa.DispatchWorkflow	DispatchWorkflow	\N	\N	{"ChildInstanceId": "01a209fe-6302-7000-8002-4cca1ccd5440"}	\N	\N
01a209fe-6302-7000-8004-4c886154849a	01a209fe-6302-7000-8002-4cca1ccd5440	01a209fe-6302-7000-8002-4cca1ccd5440	-9090673421434385384	2026-11-23 19:59:56.162221+00	2026-11-23 19:59:56.162221+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209fe-6302-7000-8007-96256e6953a7	01a209fe-6302-7000-8006-30e26abd2483	01a209fe-6302-7000-8006-30e26abd2481	-2302069262502667810	2026-11-23 19:59:56.162554+00	\N	f	f	\\xe00d6833e02ed9deb51c68c6372c60f3edd3119e0a5e4b2b3ff9dcc7371386b5	BulkDispatchWorkflows1	Workflow1:Sequence1:BulkDispatchWorkflows1	Elsa.BulkDispatchWorkflows	Elsa.BulkDispatchWorkflows	BulkDispatchWorkflows	\N	\N	{"ParentInstanceId": "01a209fe-6302-7000-8006-30e26abd2483"}	\N	\N
01a209fe-6302-7000-800a-749abea3eadf	01a209fe-6302-7000-8008-29add289e1eb	01a209fe-6302-7000-8008-29add289e1eb	-9090673421434385384	2026-11-23 19:59:56.162554+00	2026-11-23 19:59:56.162554+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209fe-6302-7000-800b-9057e0bc715d	01a209fe-6302-7000-8009-0f0b37a49b25	01a209fe-6302-7000-8009-0f0b37a49b25	-9090673421434385384	2026-11-23 19:59:56.162554+00	2026-11-23 19:59:56.162554+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209fe-6303-7000-8001-49c347c3bd5b	01a209fe-6303-7000-8000-fd5529eae1a8	01a209fe-6303-7000-8000-fd5529eae1aa	655840952004442242	2026-11-23 19:59:56.163084+00	\N	t	t	\\x091a03defd60f8821c78a187d2aaf00edd4f6cdc78306dd5c49846cfd2d3da83	Ask1	Workflow1:Sequence1:Ask1	Acme.Ask	Acme.Ask	Acme.Ask	public.answered	883885276	{"office": 1}	{"floor": 2}	\N
01a209fe-6303-7000-8004-bcc6495068ee	01a209fe-6303-7000-8003-ad968bebe66e	01a209fe-6303-7000-8003-ad968bebe66c	1764510379577796851	2026-11-23 19:59:56.163943+00	\N	t	t	\\x187cccd7693968f3edfac1e7ac9a5dfbdd106b561971844384577b0cec7b31c8	Bell1	Workflow1:Sequence1:Bell1	Acme.Bell	Acme.Bell	Acme.Bell	\N	\N	{"bell": 1}	\N	\N
01a209fe-6304-7000-8002-137879f0d916	01a209fe-6304-7000-8001-34e399851103	01a209fe-6304-7000-8001-34e399851107	4856267244929732906	2026-11-23 19:59:56.164689+00	\N	t	t	\\x4364ed546466d12aca89c8e94bfd36c88a89b564051ba6baf14449e34f3ae29c	Event1	Workflow1:Sequence1:Part1:Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	WorkflowDefinitionActivity	\N	\N	{"EventName": "Part"}	\N	\N
01a209fe-6305-7000-8001-192728cd7422	01a209fe-6305-7000-8000-252df70f2a5a	01a209fe-6305-7000-8000-252df70f2a5e	-1363089811604987638	2026-11-23 19:59:56.165001+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Composite1:Sequence2:Event1	Elsa.Event	Elsa.Event	Composite	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6305-7000-8004-128e9cbedf98	01a209fe-6305-7000-8003-e723144b123f	01a209fe-6305-7000-8003-e723144b123c	-1363089811604987638	2026-11-23 19:59:56.165571+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:If1:Event1	Elsa.Event	Elsa.Event	If	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6305-7000-8007-1269edfeef64	01a209fe-6305-7000-8006-72d4d8539872	01a209fe-6305-7000-8006-72d4d8539871	-1363089811604987638	2026-11-23 19:59:56.165873+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Switch1:Event1	Elsa.Event	Elsa.Event	Switch	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6306-7000-8001-ab9aa8bf209e	01a209fe-6306-7000-8000-6a0595952c3a	01a209fe-6306-7000-8000-6a0595952c39	-1363089811604987638	2026-11-23 19:59:56.166325+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:While1:Event1	Elsa.Event	Elsa.Event	While	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6306-7000-8004-1ac1e42b476f	01a209fe-6306-7000-8003-bd3c2ffe715b	01a209fe-6306-7000-8003-bd3c2ffe7158	-1363089811604987638	2026-11-23 19:59:56.166688+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:For1:Event1	Elsa.Event	Elsa.Event	For	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6307-7000-8001-9c13d4f9c9f0	01a209fe-6307-7000-8000-7396247d1cae	01a209fe-6307-7000-8000-7396247d1cad	-1363089811604987638	2026-11-23 19:59:56.167014+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ForEach1:Event1	Elsa.Event	Elsa.Event	ForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6307-7000-8004-a347ab0ab8cd	01a209fe-6307-7000-8003-23724b208f9e	01a209fe-6307-7000-8003-23724b208f9d	-1363089811604987638	2026-11-23 19:59:56.167636+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6307-7000-8005-8e6aeca88c36	01a209fe-6307-7000-8003-23724b208f9e	01a209fe-6307-7000-8003-23724b208f9a	-1363089811604987638	2026-11-23 19:59:56.167636+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6308-7000-8001-b0de041673eb	01a209fe-6308-7000-8000-ef63394057ca	01a209fe-6308-7000-8000-ef63394057c9	-1363089811604987638	2026-11-23 19:59:56.168025+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Parallel1:Event1	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6308-7000-8002-057fabb02ae4	01a209fe-6308-7000-8000-ef63394057ca	01a209fe-6308-7000-8000-ef63394057ce	-8700966495242961425	2026-11-23 19:59:56.168025+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event2	Workflow1:Sequence1:Parallel1:Event2	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Go"}	\N	\N
01a209fe-6308-7000-8005-763c684f0c7d	01a209fe-6308-7000-8004-4ce7faeec3df	01a209fe-6308-7000-8004-4ce7faeec3dc	-1363089811604987638	2026-11-23 19:59:56.168376+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Fork1:Event1	Elsa.Event	Elsa.Event	Fork	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6308-7000-8006-7caa8cdd9623	01a209fe-6308-7000-8004-4ce7faeec3df	01a209fe-6308-7000-8004-4ce7faeec3db	-658136361249145806	2026-11-23 19:59:56.168376+00	2029-08-19 19:59:56.168376+00	t	t	\\xf6ddd47765f9fc32eeec88733de3d0a0af255e2e4fc27283f854ec0343ffbe05	Delay1	Workflow1:Sequence1:Fork1:Delay1	Elsa.Delay	Elsa.Delay	Fork	\N	\N	{"ResumeAt": "2029-08-19T19:59:56.168376+00:00"}	\N	\N
01a209fe-6308-7000-8009-3375a1851462	01a209fe-6308-7000-8008-52dde91cb196	01a209fe-6308-7000-8008-52dde91cb192	-1363089811604987638	2026-11-23 19:59:56.168808+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	Flowchart	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6308-7000-800a-9cd8e1d60549	01a209fe-6308-7000-8008-52dde91cb196	01a209fe-6308-7000-8008-52dde91cb193	\N	2026-11-23 19:59:56.168808+00	\N	t	t	\N	b	Workflow1:Sequence1:Flowchart1:b	Elsa.RunTask	Elsa.RunTask	Flowchart	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209fe-6309-7000-8002-2b6937e59f52	01a209fe-6309-7000-8001-974531b19b1e	01a209fe-6309-7000-8001-974531b19b1d	-1363089811604987638	2026-11-23 19:59:56.169473+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	FlowchartTokens	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-6309-7000-8005-1b3e127ab0e8	01a209fe-6309-7000-8004-e1e6496290f3	01a209fe-6309-7000-8004-e1e6496290f0	-1363089811604987638	2026-11-23 19:59:56.169784+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:StateMachine1:Event1	Elsa.Event	Elsa.Event	StateMachine	\N	\N	{"EventName": "Inside"}	\N	\N
01a209fe-630e-7000-8002-aabfbd1f09bb	01a209fe-630e-7000-8001-31854016ebc8	01a209fe-630e-7000-8001-31854016ebc9	3916241601270271175	2026-11-23 19:59:56.174316+00	\N	t	t	\\x365948fcba524cc72aedb16dc6dfdf5698ec80b98d321ec77b92dcc2e9d57b0c	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Singleton	\N	\N	{"EventName": "Single"}	\N	\N
01a209fe-6313-7000-8002-8f0badc90620	01a209fe-6313-7000-8001-57e76fb964fc	01a209fe-6313-7000-8001-57e76fb964fd	6519142656413473659	2026-11-23 19:59:56.179629+00	\N	t	t	\\x5a78a5b4c39f1b7b11d72690c9f26678b7ab084999ee4c18905020e1c0e77a4e	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Clerk	\N	\N	{"EventName": "Clerk"}	\N	\N
\.


--
-- Data for Name: dead_letters; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, replayed_at, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input, due_at) FROM stdin;
01a20990-85eb-7000-8000-9a02874cfa58	Expired	883885276	0	2026-11-23 17:59:56.139512+00	2026-11-23 19:59:56.142027+00	\N	\N	\N	\N	\N	\N	dead	f	\N	kept	\N	\N	\N	\N
\.


--
-- Data for Name: definitions; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.definitions (id, definition_id, version, name, description, is_latest, is_published, security, uses_sql, owner, retention, created_at, deleted_at, document, activity_type, links, search_path, unknown_types, numbering) FROM stdin;
01a209fe-62f1-7000-8000-a138f5c585c1	child	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.145993+00	\N	{"root": [{"id": "ask", "type": "RunTask", "taskName": "Child"}, {"type": "SetOutput", "outputName": "Result", "outputValue": {"js": "getOutputFrom('ask')"}}, {"type": "SetName", "value": "done"}], "outputs": [{"name": "Result"}], "definitionId": "child"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "ask"], [0, "SetOutput1"], [0, "SetName1"]], "connections": []}
01a209fe-62f9-7000-8000-c6e1de4e8732	part	1	Part	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.153592+00	\N	{"name": "Part", "root": [{"type": "Event", "eventName": "Part"}], "options": {"usableAsActivity": true}, "definitionId": "part"}	Part	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"]], "connections": []}
01a209fe-62fb-7000-8002-78ac1a2d2186	RunTask	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.155962+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "RunTask", "result": {"var": "Answer"}, "payload": {"object": {"of": "Ada"}}, "taskName": "Sign"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "RunTask"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "RunTask1"], [0, "SetName1"]], "connections": []}
01a209fe-62fc-7000-8002-b4a266d9771b	Delay	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.156783+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Delay", "timeSpan": "00:00:00.001"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Delay"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Delay1"], [0, "SetName1"]], "connections": []}
01a209fe-62fd-7000-8002-da67c8d29a62	StartAt	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.15739+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StartAt", "dateTime": {"sql": "clock_timestamp() + interval '1 ms'"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StartAt"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StartAt1"], [0, "SetName1"]], "connections": []}
01a209fe-62fe-7000-8002-f339c7795e20	Timer	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.15897+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Timer", "interval": "00:00:01"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Timer"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Timer1"], [0, "SetName1"]], "connections": []}
01a209fe-62ff-7000-8002-73e0223ff70d	Cron	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.159335+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Cron", "cronExpression": "* * * * * *"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Cron"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Cron1"], [0, "SetName1"]], "connections": []}
01a209fe-62fa-7000-8000-121ca40f507c	Event	1	\N	\N	f	f	invoker	f	883885276	\N	2026-11-23 19:59:56.15475+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Event", "result": {"var": "Answer"}, "eventName": "Go"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-62ff-7000-8005-94fb95157dfc	HttpEndpoint	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.159665+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"path": "sign", "type": "HttpEndpoint", "supportedMethods": ["POST"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "HttpEndpoint"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "HttpEndpoint1"], [0, "SetName1"]], "connections": []}
01a209fe-6300-7000-8002-f8f104db06a4	ScheduledCommand	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.160741+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ScheduledCommand", "topLevel": true, "statement": "INSERT INTO public.notes VALUES ('command')"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ScheduledCommand"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ScheduledCommand1"], [0, "SetName1"]], "connections": []}
01a209fe-6301-7000-8002-5c8dd0e1cba1	BackgroundActivity	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.16119+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES ('background')", "runAsynchronously": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BackgroundActivity"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209fe-6301-7000-8005-1b7a752bb0dc	ExecuteWorkflow	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.161571+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ExecuteWorkflow", "result": {"var": "Answer"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ExecuteWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ExecuteWorkflow1"], [0, "SetName1"]], "connections": []}
01a209fe-6302-7000-8000-8071683927b9	DispatchWorkflow	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.162029+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "DispatchWorkflow", "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "DispatchWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "DispatchWorkflow1"], [0, "SetName1"]], "connections": []}
01a209fe-6302-7000-8005-3d20ee9a0327	BulkDispatchWorkflows	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.162366+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "BulkDispatchWorkflows", "items": {"var": "Items"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BulkDispatchWorkflows"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "BulkDispatchWorkflows1"], [0, "SetName1"]], "connections": []}
01a209fe-6302-7000-800c-fc8d0b6535a8	Acme.Ask	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.162721+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"by": {"var": "Answer"}, "type": "Acme.Ask"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Ask"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Ask1"], [0, "SetName1"]], "connections": []}
01a209fe-6303-7000-8002-7fa1f69452fa	Acme.Bell	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.16362+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Acme.Bell"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Bell"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Bell1"], [0, "SetName1"]], "connections": []}
01a209fe-6304-7000-8000-f953058cd63a	WorkflowDefinitionActivity	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.164208+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Part"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "WorkflowDefinitionActivity"}	\N	[{"type": "Part", "uses": "01a209fe-62f9-7000-8000-c6e1de4e8732"}]	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Part1"], [0, "SetName1"], [2, "Sequence1"], [4, "Event1"]], "connections": []}
01a209fe-6304-7000-8003-a5020af3c824	Composite	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.164789+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"root": [{"type": "Event", "eventName": "Inside"}], "type": "Composite"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Composite"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Composite1"], [2, "Sequence2"], [3, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6305-7000-8002-1b66ffd062e8	If	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.165351+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"then": {"type": "Event", "eventName": "Inside"}, "type": "If", "condition": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "If"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "If1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6305-7000-8005-9130f1c28b08	Switch	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.165672+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Switch", "cases": [{"label": "one", "activity": {"type": "Event", "eventName": "Inside"}, "condition": true}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Switch"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Switch1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6305-7000-8008-4cbcb525f7ef	While	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.165968+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "result": {"var": "Answer"}, "eventName": "Inside"}, "type": "While", "condition": {"js": "getAnswer() == null"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "While"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "While1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6306-7000-8002-f8b56629d9a3	For	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.166457+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"end": 1, "body": {"type": "Event", "eventName": "Inside"}, "type": "For", "start": 1}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "For"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "For1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6306-7000-8005-d2fee12141a2	ForEach	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.16679+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ForEach", "items": ["only"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6307-7000-8002-20ad17009258	ParallelForEach	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.167133+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ParallelForEach", "items": {"var": "Items"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ParallelForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ParallelForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-6307-7000-8006-c807859eefdc	Parallel	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.167756+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Inside"}, {"type": "Event", "eventName": "Go"}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Parallel"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Parallel1"], [2, "Event1"], [2, "Event2"], [0, "SetName1"]], "connections": []}
01a209fe-6308-7000-8003-e01ab9060349	Fork	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.168164+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Fork", "branches": [{"type": "Event", "eventName": "Inside"}, {"type": "Delay", "timeSpan": "1000.00:00:00"}], "joinMode": "WaitAny"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Fork"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Fork1"], [2, "Event1"], [2, "Delay1"], [0, "SetName1"]], "connections": []}
01a209fe-6308-7000-8007-104baa2a1f13	Flowchart	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.168526+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["a", "b"]}, {"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}, {"id": "join", "mode": "WaitAll", "type": "FlowJoin"}], "connections": [["fork", "a", "a"], ["fork", "b", "b"], ["a", "join"], ["b", "join"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Flowchart"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "fork"], [2, "a"], [2, "b"], [2, "join"], [0, "SetName1"]], "connections": [[3, "a", 4], [3, "b", 5], [4, "Done", 6], [5, "Done", 6]]}
01a209fe-6309-7000-8000-15a9a9120979	FlowchartTokens	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.169244+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"mode": "TokenBased", "type": "Flowchart", "activities": [{"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}], "connections": [["a", "b"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "FlowchartTokens"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "a"], [2, "b"], [0, "SetName1"]], "connections": [[3, "Done", 4]]}
01a209fe-6309-7000-8003-b88de2949fda	StateMachine	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.169574+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [{"to": "Closed", "from": "Open", "trigger": {"type": "Event", "eventName": "Inside"}}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StateMachine"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StateMachine1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-630a-7000-8000-beaad52d4b25	Faulted	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.170655+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Faulted"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209fe-630c-7000-8000-ae7036eec938	alarm	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.172332+00	\N	{"root": [{"type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "SetName", "value": "done"}], "definitionId": "alarm"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-630d-7000-8000-d499cfa47725	site	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.17324+00	\N	{"root": [{"path": "site/{page}", "type": "HttpEndpoint", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": "Hello"}, {"type": "SetName", "value": "done"}], "definitionId": "site"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "HttpEndpoint1"], [0, "WriteHttpResponse1"], [0, "SetName1"]], "connections": []}
01a209fe-630e-7000-8000-69cb8e0416b1	single	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.174086+00	\N	{"root": [{"type": "Event", "eventName": "Single"}, {"type": "SetName", "value": "done"}], "options": {"activationStrategy": "Singleton"}, "definitionId": "single"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209fe-630f-7000-8000-1672b530b1c3	report	1	\N	\N	t	t	invoker	t	883885276	\N	2026-11-23 19:59:56.175472+00	\N	{"root": [{"type": "Sql", "statement": "INSERT INTO public.notes VALUES ('report')"}], "definitionId": "report"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "Sql1"]], "connections": []}
0183dd3b-5310-7000-8001-e7be9d193729	Workflow.ScheduledCommand	1	Scheduled command	Runs the command of a schedule made by wf_schedule.	t	t	invoker	t	883885276	\N	2022-10-15 19:59:56.176019+00	\N	{"name": "Scheduled command", "root": {"id": "command", "type": "ScheduledCommand", "retry": {"input": "retry"}, "rowCount": {"output": "rows"}, "topLevel": {"input": "topLevel"}, "statement": {"input": "statement"}}, "outputs": [{"name": "rows", "type": "Int64"}], "description": "Runs the command of a schedule made by wf_schedule.", "definitionId": "Workflow.ScheduledCommand"}	\N	\N	\N	\N	{"activities": [[null, "command"]], "connections": []}
01a209fe-6313-7000-8000-fda618a8e64e	clerk's	1	\N	\N	t	t	invoker	t	883885275	\N	2026-11-23 19:59:56.17928+00	\N	{"root": [{"type": "Event", "eventName": "Clerk"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (current_user)"}, {"type": "SetName", "value": "done"}], "definitionId": "clerk's"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209fe-6314-7000-8000-6abb8ffc5897	past	1	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.180191+00	\N	{"root": [{"type": "RunTask", "taskName": "Past"}, {"type": "SetName", "value": "done"}], "definitionId": "past"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "RunTask1"], [0, "SetName1"]], "connections": []}
01a209fe-6315-7000-8000-13cf2f70d8aa	Event	2	\N	\N	t	t	invoker	f	883885276	\N	2026-11-23 19:59:56.181458+00	\N	{"root": [], "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"]], "connections": []}
\.


--
-- Data for Name: event_grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.event_grants (publisher, listener) FROM stdin;
883885276	883885275
\.


--
-- Data for Name: execution_log; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.execution_log (instance_id, seq, created_at, events) FROM stdin;
01a209fe-62fb-7000-8000-1fbd22080742	0	2026-11-23 19:59:56.155143+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902064576656e7431054576656e7401020101a209fe62fb70008001881069197e88000200000000
01a209fe-62fc-7000-8000-e604ece33c43	0	2026-11-23 19:59:56.156228+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020852756e5461736b310752756e5461736b01020101a209fe62fc7000800110f397e95cc4000200000000
01a209fe-62fd-7000-8000-615f4eb51366	0	2026-11-23 19:59:56.157031+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020644656c6179310544656c6179010200012a7b22526573756d654174223a22323032362d31312d32335431393a35393a35362e3135383033315a227d09010201020101a209fe62fd700080019338c5062ca8000200000000
01a209fe-62fe-7000-8000-1a8d2b128cf2	0	2026-11-23 19:59:56.158662+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020853746172744174310753746172744174010200012b7b22457865637574654174223a22323032362d31312d32335431393a35393a35362e3135393830315a227d09010201020101a209fe62fe70008001246e926a5a92000200000000
01a209fe-62ff-7000-8000-bd3224985df5	0	2026-11-23 19:59:56.159189+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020654696d6572310554696d6572010200012a7b22526573756d654174223a22323032362d31312d32335431393a35393a35372e3135393138395a227d09010201020101a209fe62ff70008001d47b5bb3261d000200000000
01a209fe-62ff-7000-8003-caf84de4d7dc	0	2026-11-23 19:59:56.15954+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020543726f6e310443726f6e01020001437b2243726f6e45787072657373696f6e223a222a202a202a202a202a202a222c22457865637574654174223a22323032362d31312d32335431393a35393a35375a227d09010201020101a209fe62ff70008004098ec5520a5d000200000000
01a209fe-6300-7000-8000-b061cdcaa1f6	0	2026-11-23 19:59:56.160234+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020d48747470456e64706f696e74310c48747470456e64706f696e7401020101a209fe630070008001cbe518b8c0fb000200000000
01a209fe-6301-7000-8000-297614260a03	0	2026-11-23 19:59:56.161053+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902115363686564756c6564436f6d6d616e6431105363686564756c6564436f6d6d616e6401020101a209fe63017000800139c91cb9868f000200000000
01a209fe-6301-7000-8003-71a07ea2984d	0	2026-11-23 19:59:56.161459+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020453716c310353716c01020101a209fe6301700080042f9d3ed41c1e000200000000
01a209fe-6301-7000-8006-ce4bfcdad5eb	0	2026-11-23 19:59:56.161766+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021045786563757465576f726b666c6f77310f45786563757465576f726b666c6f7701020101a209fe6301700080085c1601dc056100110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966652d363330312d373030302d383030372d396566616461653834616633227d0200000000
01a209fe-6301-7000-8007-9efadae84af3	0	2026-11-23 19:59:56.161766+00	\\x0204000000000007020953657175656e6365310853657175656e63650100000009020361736b0752756e5461736b01010101a209fe630170008009880ae4d3b43e000200000000
01a209fe-6302-7000-8001-322c451a6196	0	2026-11-23 19:59:56.162221+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902114469737061746368576f726b666c6f7731104469737061746368576f726b666c6f7701020101a209fe630270008003f42c86dd9cfa00110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966652d363330322d373030302d383030322d346363613163636435343430227d0200000000
01a209fe-6302-7000-8006-30e26abd2483	0	2026-11-23 19:59:56.162554+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021642756c6b4469737061746368576f726b666c6f7773311542756c6b4469737061746368576f726b666c6f777301020101a209fe63027000800796256e6953a700110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966652d363330322d373030302d383030382d323961646432383965316562227d110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966652d363330322d373030302d383030392d306630623337613439623235227d0200000000
01a209fe-6303-7000-8000-fd5529eae1a8	0	2026-11-23 19:59:56.163084+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020441736b310841636d652e41736b01020101a209fe63037000800149c347c3bd5b000200000000
01a209fe-6303-7000-8003-ad968bebe66e	0	2026-11-23 19:59:56.163943+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020542656c6c310941636d652e42656c6c01020101a209fe630370008004bcc6495068ee000200000000
01a209fe-6304-7000-8001-34e399851103	0	2026-11-23 19:59:56.164689+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702055061727431045061727401020000070100010300000902064576656e7431054576656e7401040101a209fe630470008002137879f0d916000200000000
01a209fe-6305-7000-8000-252df70f2a5a	0	2026-11-23 19:59:56.165001+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a436f6d706f736974653109436f6d706f736974650102000007020953657175656e6365320853657175656e6365010300000902064576656e7431054576656e7401040101a209fe630570008001192728cd7422000200000000
01a209fe-6305-7000-8003-e723144b123f	0	2026-11-23 19:59:56.165571+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070203496631024966010200000902064576656e7431054576656e7401030101a209fe630570008004128e9cbedf98000200000000
01a209fe-6305-7000-8006-72d4d8539872	0	2026-11-23 19:59:56.165873+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702075377697463683106537769746368010200000902064576656e7431054576656e7401030101a209fe6305700080071269edfeef64000200000000
01a209fe-6306-7000-8000-6a0595952c3a	0	2026-11-23 19:59:56.166325+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702065768696c6531055768696c65010200000902064576656e7431054576656e7401030101a209fe630670008001ab9aa8bf209e000200000000
01a209fe-6306-7000-8003-bd3c2ffe715b	0	2026-11-23 19:59:56.166688+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070204466f723103466f72010200000902064576656e7431054576656e7401030101a209fe6306700080041ac1e42b476f000200000000
01a209fe-6307-7000-8000-7396247d1cae	0	2026-11-23 19:59:56.167014+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070208466f72456163683107466f7245616368010200000902064576656e7431054576656e7401030101a209fe6307700080019c13d4f9c9f0000200000000
01a209fe-6307-7000-8003-23724b208f9e	0	2026-11-23 19:59:56.167636+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070210506172616c6c656c466f7245616368310f506172616c6c656c466f7245616368010200000902064576656e7431054576656e7401030101a209fe630770008004a347ab0ab8cd0009010301040101a209fe6307700080058e6aeca88c36000200000000
01a209fe-6308-7000-8000-ef63394057ca	0	2026-11-23 19:59:56.168025+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070209506172616c6c656c3108506172616c6c656c010200000902064576656e7431054576656e7401030101a209fe630870008001b0de041673eb000902064576656e7432054576656e7401040101a209fe630870008002057fabb02ae4000200000000
01a209fe-6308-7000-8004-4ce7faeec3df	0	2026-11-23 19:59:56.168376+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070205466f726b3104466f726b010200000902064576656e7431054576656e7401030101a209fe630870008005763c684f0c7d000f020644656c6179310544656c6179010400012a7b22526573756d654174223a22323032392d30382d31395431393a35393a35362e3136383337365a227d09010401040101a209fe6308700080067caa8cdd9623000200000000
01a209fe-6308-7000-8008-52dde91cb196	0	2026-11-23 19:59:56.168808+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f776368617274010200000a0204666f726b08466c6f77466f726b01030001095b2261222c2262225d09020161054576656e7401040101a209fe6308700080093375a185146200090201620752756e5461736b01050101a209fe63087000800a9cd8e1d60549000200000000
01a209fe-6309-7000-8001-974531b19b1e	0	2026-11-23 19:59:56.169473+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f7763686172740102000009020161054576656e7401030101a209fe6309700080022b6937e59f52000200000000
01a209fe-6309-7000-8004-e1e6496290f3	0	2026-11-23 19:59:56.169784+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020d53746174654d616368696e65310c53746174654d616368696e6501020001107b227374617465223a224f70656e227d070102010200000902064576656e7431054576656e7401030101a209fe6309700080051b3e127ab0e8000200000000
01a209fe-630b-7000-8000-99f45f1123ba	0	2026-11-23 19:59:56.171007+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000c020453716c310353716c01020001317b226d657373616765223a226469766973696f6e206279207a65726f222c2273716c7374617465223a223232303132227d0400000000
01a209fe-630e-7000-8001-31854016ebc8	0	2026-11-23 19:59:56.174316+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209fe630e70008002aabfbd1f09bb000200000000
01a209fe-6313-7000-8001-57e76fb964fc	0	2026-11-23 19:59:56.179629+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209fe6313700080028f0badc90620000200000000
01a209fe-6314-7000-8001-c4dbfbbc3e6c	0	2026-11-23 19:59:56.180404+00	\\x0204000000000007020953657175656e6365310853657175656e63650100000009020852756e5461736b310752756e5461736b01010101a209fe6314700080028a36b55a27c1000200000000
01a209fe-6314-7000-8001-c4dbfbbc3e6c	1	2026-11-23 19:59:56.181006+00	\\x0206010000000008020852756e5461736b310752756e5461736b01010101a209fe6314700080028a36b55a27c1000a0100010100000a02085365744e616d6531075365744e616d65010200000a020953657175656e6365310853657175656e6365010000000300000000
\.


--
-- Data for Name: grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.grants (definition_id, role, privilege, grantor) FROM stdin;
alarm	883885275	start	883885276
alarm	883885275	read	883885276
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.identity (system_identifier, database) FROM stdin;
7711459141068846743	16384
\.


--
-- Data for Name: incidents; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, resolved_at, sqlstate, message, detail, hint, context) FROM stdin;
01a209fe-630b-7000-8001-b821fc836790	01a209fe-630b-7000-8000-99f45f1123ba	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	01a209fe-630b-7000-8000-99f45f1123b8	2026-11-23 19:59:56.171007+00	\N	22012	division by zero	\N	\N	SQL statement "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"
\.


--
-- Data for Name: instances; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.instances (id, definition_version_id, created_at, owner, version, definition_id, parent_instance_id, parent_bookmark_id, schedule_id, correlation_id, name, activation_key, input, status, sub_status, incident_count, updated_at, finished_at, state, variables, output) FROM stdin;
01a209fe-62fb-7000-8000-1fbd22080742	01a209fe-62fa-7000-8000-121ca40f507c	2026-11-23 19:59:56.155143+00	883885276	1	Event	\N	\N	\N	Event	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.155143+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-62fc-7000-8000-e604ece33c43	01a209fe-62fb-7000-8002-78ac1a2d2186	2026-11-23 19:59:56.156228+00	883885276	1	RunTask	\N	\N	\N	RunTask	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.156228+00	\N	\\x0202000000000000000000010402020100000100000000000301010201067461736b4964110101a209fe62fc7000800110f397e95cc4000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-62fd-7000-8000-615f4eb51366	01a209fe-62fc-7000-8002-b4a266d9771b	2026-11-23 19:59:56.157031+00	883885276	1	Delay	\N	\N	\N	Delay	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.157031+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-62fe-7000-8000-1a8d2b128cf2	01a209fe-62fd-7000-8002-da67c8d29a62	2026-11-23 19:59:56.158662+00	883885276	1	StartAt	\N	\N	\N	StartAt	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.158662+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-62ff-7000-8000-bd3224985df5	01a209fe-62fe-7000-8002-f339c7795e20	2026-11-23 19:59:56.159189+00	883885276	1	Timer	\N	\N	\N	Timer	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.159189+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-62ff-7000-8003-caf84de4d7dc	01a209fe-62ff-7000-8002-73e0223ff70d	2026-11-23 19:59:56.15954+00	883885276	1	Cron	\N	\N	\N	Cron	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.15954+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6300-7000-8000-b061cdcaa1f6	01a209fe-62ff-7000-8005-94fb95157dfc	2026-11-23 19:59:56.160234+00	883885276	1	HttpEndpoint	\N	\N	\N	HttpEndpoint	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.160234+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6301-7000-8000-297614260a03	01a209fe-6300-7000-8002-f8f104db06a4	2026-11-23 19:59:56.161053+00	883885276	1	ScheduledCommand	\N	\N	\N	ScheduledCommand	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.161053+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6301-7000-8003-71a07ea2984d	01a209fe-6301-7000-8002-5c8dd0e1cba1	2026-11-23 19:59:56.161459+00	883885276	1	BackgroundActivity	\N	\N	\N	BackgroundActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.161459+00	\N	\\x020200000000000000000001040202010000010000000007030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6301-7000-8006-ce4bfcdad5eb	01a209fe-6301-7000-8005-1b7a752bb0dc	2026-11-23 19:59:56.161766+00	883885276	1	ExecuteWorkflow	\N	\N	\N	ExecuteWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.161766+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6301-7000-8007-9efadae84af3	01a209fe-62f1-7000-8000-a138f5c585c1	2026-11-23 19:59:56.161766+00	883885276	1	child	01a209fe-6301-7000-8006-ce4bfcdad5eb	01a209fe-6301-7000-8008-5c1601dc0561	\N	\N	\N	\N	{"ParentInstanceId": "01a209fe-6301-7000-8006-ce4bfcdad5eb"}	Running	Suspended	0	2026-11-23 19:59:56.161766+00	\N	\\x0202000000000000000000010201010100000100000000000201010101067461736b4964110101a209fe630170008009880ae4d3b43e000000	{}	\N
01a209fe-6302-7000-8001-322c451a6196	01a209fe-6302-7000-8000-8071683927b9	2026-11-23 19:59:56.162221+00	883885276	1	DispatchWorkflow	\N	\N	\N	DispatchWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.162221+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6302-7000-8002-4cca1ccd5440	01a209fe-62f1-7000-8000-a138f5c585c1	2026-11-23 19:59:56.162221+00	883885276	1	child	01a209fe-6302-7000-8001-322c451a6196	01a209fe-6302-7000-8003-f42c86dd9cfa	\N	\N	\N	\N	{"ParentInstanceId": "01a209fe-6302-7000-8001-322c451a6196"}	Running	Pending	0	2026-11-23 19:59:56.162221+00	\N	\\x0200000000000000	{}	\N
01a209fe-6302-7000-8006-30e26abd2483	01a209fe-6302-7000-8005-3d20ee9a0327	2026-11-23 19:59:56.162554+00	883885276	1	BulkDispatchWorkflows	\N	\N	\N	BulkDispatchWorkflows	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.162554+00	\N	\\x02020000000000000000000104020201000001000000000104030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6302-7000-8008-29add289e1eb	01a209fe-62f1-7000-8000-a138f5c585c1	2026-11-23 19:59:56.162554+00	883885276	1	child	01a209fe-6302-7000-8006-30e26abd2483	01a209fe-6302-7000-8007-96256e6953a7	\N	\N	\N	\N	{"Item": "a", "ParentInstanceId": "01a209fe-6302-7000-8006-30e26abd2483"}	Running	Pending	0	2026-11-23 19:59:56.162554+00	\N	\\x0200000000000000	{}	\N
01a209fe-6302-7000-8009-0f0b37a49b25	01a209fe-62f1-7000-8000-a138f5c585c1	2026-11-23 19:59:56.162554+00	883885276	1	child	01a209fe-6302-7000-8006-30e26abd2483	01a209fe-6302-7000-8007-96256e6953a7	\N	\N	\N	\N	{"Item": "b", "ParentInstanceId": "01a209fe-6302-7000-8006-30e26abd2483"}	Running	Pending	0	2026-11-23 19:59:56.162554+00	\N	\\x0200000000000000	{}	\N
01a209fe-6303-7000-8000-fd5529eae1a8	01a209fe-6302-7000-800c-fc8d0b6535a8	2026-11-23 19:59:56.163084+00	883885276	1	Acme.Ask	\N	\N	\N	Acme.Ask	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.163084+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6303-7000-8003-ad968bebe66e	01a209fe-6303-7000-8002-7fa1f69452fa	2026-11-23 19:59:56.163943+00	883885276	1	Acme.Bell	\N	\N	\N	Acme.Bell	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.163943+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6304-7000-8001-34e399851103	01a209fe-6304-7000-8000-f953058cd63a	2026-11-23 19:59:56.164689+00	883885276	1	WorkflowDefinitionActivity	\N	\N	\N	WorkflowDefinitionActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.164689+00	\N	\\x0204000000000000000000010402020100000000000000000304010200000000000001020405010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6305-7000-8000-252df70f2a5a	01a209fe-6304-7000-8003-a5020af3c824	2026-11-23 19:59:56.165001+00	883885276	1	Composite	\N	\N	\N	Composite	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.165001+00	\N	\\x0204000000000000000000010402020100000000000000000303010200000000000001020404010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6305-7000-8003-e723144b123f	01a209fe-6305-7000-8002-1b66ffd062e8	2026-11-23 19:59:56.165571+00	883885276	1	If	\N	\N	\N	If	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.165571+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040101020106726573756c7404747275650102000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6305-7000-8006-72d4d8539872	01a209fe-6305-7000-8005-9130f1c28b08	2026-11-23 19:59:56.165873+00	883885276	1	Switch	\N	\N	\N	Switch	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.165873+00	\N	\\x0203000000000000000000010402020100000000000000010203030102000100000000000401010201066f757470757405226f6e6522000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6306-7000-8000-6a0595952c3a	01a209fe-6305-7000-8008-4cbcb525f7ef	2026-11-23 19:59:56.166325+00	883885276	1	While	\N	\N	\N	While	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.166325+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6306-7000-8003-bd3c2ffe715b	01a209fe-6306-7000-8002-f8b56629d9a3	2026-11-23 19:59:56.166688+00	883885276	1	For	\N	\N	\N	For	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.166688+00	\N	\\x02030000000000000000000104020201000000000000000202020201030301020001000000010c43757272656e7456616c756501310004010102010c63757272656e7456616c75650131000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6307-7000-8000-7396247d1cae	01a209fe-6306-7000-8005-d2fee12141a2	2026-11-23 19:59:56.167014+00	883885276	1	ForEach	\N	\N	\N	ForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.167014+00	\N	\\x02030000000000000000000104020201000000000000000100030301020001000000020c43757272656e7456616c756506226f6e6c79220c43757272656e74496e64657801300004010102010c63757272656e7456616c756506226f6e6c7922000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6307-7000-8003-23724b208f9e	01a209fe-6307-7000-8002-20ad17009258	2026-11-23 19:59:56.167636+00	883885276	1	ParallelForEach	\N	\N	\N	ParallelForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.167636+00	\N	\\x020400000000000000000001040202010000000000000000030301020001000000020c43757272656e7456616c7565032261220c43757272656e74496e646578013000040301020001000000020c43757272656e7456616c7565032262220c43757272656e74496e646578013100050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6308-7000-8000-ef63394057ca	01a209fe-6307-7000-8006-c807859eefdc	2026-11-23 19:59:56.168025+00	883885276	1	Parallel	\N	\N	\N	Parallel	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.168025+00	\N	\\x0204000000000000000000010402020100000000000000010403030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6308-7000-8004-4ce7faeec3df	01a209fe-6308-7000-8003-e01ab9060349	2026-11-23 19:59:56.168376+00	883885276	1	Fork	\N	\N	\N	Fork	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.168376+00	\N	\\x0204000000000000000000010402020100000000000000010203030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6308-7000-8008-52dde91cb196	01a209fe-6308-7000-8007-104baa2a1f13	2026-11-23 19:59:56.168808+00	883885276	1	Flowchart	\N	\N	\N	Flowchart	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.168808+00	\N	\\x020400000000000000000001040202010000000000000004000101020303040401020001000000000005050102000100000000000601010501067461736b4964110101a209fe63087000800a9cd8e1d60549000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6309-7000-8001-974531b19b1e	01a209fe-6309-7000-8000-15a9a9120979	2026-11-23 19:59:56.169473+00	883885276	1	FlowchartTokens	\N	\N	\N	FlowchartTokens	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.169473+00	\N	\\x020300000000000000000001040202010000000000000006000000010001000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-6309-7000-8004-e1e6496290f3	01a209fe-6309-7000-8003-b88de2949fda	2026-11-23 19:59:56.169784+00	883885276	1	StateMachine	\N	\N	\N	StateMachine	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.169784+00	\N	\\x020300000000000000000001040202010000000000000001000303010200010001000000040101020105737461746506224f70656e22000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-630b-7000-8000-99f45f1123ba	01a209fe-630a-7000-8000-beaad52d4b25	2026-11-23 19:59:56.171007+00	883885276	1	Faulted	\N	\N	\N	Faulted	\N	\N	{}	Finished	Faulted	1	2026-11-23 19:59:56.171007+00	\N	\\x020200000000000100000001040202010001000100000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209fe-630e-7000-8001-31854016ebc8	01a209fe-630e-7000-8000-69cb8e0416b1	2026-11-23 19:59:56.174316+00	883885276	1	single	\N	\N	\N	Singleton	\N	singleton:single	{}	Running	Suspended	0	2026-11-23 19:59:56.174316+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
01a209fe-6313-7000-8001-57e76fb964fc	01a209fe-6313-7000-8000-fda618a8e64e	2026-11-23 19:59:56.179629+00	883885275	1	clerk's	\N	\N	\N	Clerk	\N	\N	{}	Running	Suspended	0	2026-11-23 19:59:56.179629+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
01a209fe-6314-7000-8001-c4dbfbbc3e6c	01a209fe-6314-7000-8000-6abb8ffc5897	2026-11-23 19:59:56.180404+00	883885276	1	past	\N	\N	\N	past	done	\N	{}	Finished	Finished	0	2026-11-23 19:59:56.181006+00	2026-11-23 19:59:56.181006+00	\\x0200030200000000	{}	\N
\.


--
-- Data for Name: owners; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.owners (id, role, same_as) FROM stdin;
883885275	7711459141068846743:16767:clerk	\N
883885276	7711459141068846743:10:postgres	\N
\.


--
-- Data for Name: paths; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.paths (segment, owner) FROM stdin;
sign	883885276
site	883885276
\.


--
-- Data for Name: tasks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.tasks (id, instance_id, created_at, activity_id, name, correlation_id, payload, status, completed_at, result) FROM stdin;
01a209fe-62fc-7000-8001-10f397e95cc4	01a209fe-62fc-7000-8000-e604ece33c43	2026-11-23 19:59:56.156228+00	RunTask1	Sign	RunTask	{"of": "Ada"}	Open	\N	\N
01a209fe-6301-7000-8009-880ae4d3b43e	01a209fe-6301-7000-8007-9efadae84af3	2026-11-23 19:59:56.161766+00	ask	Child	\N	\N	Open	\N	\N
01a209fe-6308-7000-800a-9cd8e1d60549	01a209fe-6308-7000-8008-52dde91cb196	2026-11-23 19:59:56.168808+00	b	Sign	Flowchart	\N	Open	\N	\N
01a209fe-6314-7000-8002-8a36b55a27c1	01a209fe-6314-7000-8001-c4dbfbbc3e6c	2026-11-23 19:59:56.180404+00	RunTask1	Past	past	\N	Completed	2026-11-23 19:59:56.181006+00	"yes"
\.


--
-- Data for Name: triggers; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.triggers (id, definition_id, definition_version_id, version, activity_id, node_id, activity_type, name, hash, hash_key, payload, created_at, next_fire_at, scheduled_at, schedule, active, schedule_name, owner, input, correlation_id, last_fire_at, last_instance_id, queued, skipped, missed, attempts, last_error) FROM stdin;
01a209fe-630c-7000-8001-8eb657a7cb06	alarm	01a209fe-630c-7000-8000-ae7036eec938	1	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	\\x8d74d33b50af026889633d9380975fbafa0e4f0e5d644860b3436c21b341f814	-8253739965353098648	{"EventName": "Alarm"}	2026-11-23 19:59:56.172332+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
01a209fe-630d-7000-8001-ecd04a64b6b9	site	01a209fe-630d-7000-8000-d499cfa47725	1	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	\\x7de9e9c6d0e2183583181a16809fe169982ca90e479abf85edf0e24d065f26e3	9073039964431849525	{"Path": "/site/{page}", "Route": "site/LP|site|site/{page}|get", "Method": "get"}	2026-11-23 19:59:56.17324+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
0183dd3b-5310-7000-8000-d61699fecd1a	Workflow.ScheduledCommand	0183dd3b-5310-7000-8001-e7be9d193729	1			Workflow.Schedule	Workflow.Schedule	\\xa36bc398620cb543c42f1f77f75a94a6e2b59c789119c208c3bd986a761beea2	-6671023363771812541	\N	2022-10-15 19:59:56.176019+00	2025-07-11 19:59:56.176019+00	2025-07-11 19:59:56.176019+00	{"text": "every 1000 days", "when": {"every": {"start": "2022-10-15T19:59:56.176019Z", "interval": "1000 days"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	seldom	883885276	{"retry": false, "topLevel": false, "statement": "INSERT INTO public.notes VALUES ('seldom')"}	\N	\N	\N	0	0	0	0	\N
0183dd3b-5310-7000-8002-4f2736d77a4c	report	01a209fe-630f-7000-8000-1672b530b1c3	1			Workflow.Schedule	Workflow.Schedule	\\x69dd912e83e008ffae8dbeb20c139430bb2a79d930c322626dd0290db3966650	7628412972802509055	\N	2022-10-15 19:59:56.176019+00	2025-07-11 19:59:56.176019+00	2025-07-11 19:59:56.176019+00	{"text": "every 1000 days", "when": {"every": {"start": "2022-10-15T19:59:56.176019Z", "interval": "1000 days"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	report	883885276	{}	\N	\N	\N	0	0	0	0	\N
\.


--
-- Name: owners_id_seq; Type: SEQUENCE SET; Schema: workflow; Owner: postgres
--

SELECT pg_catalog.setval('workflow.owners_id_seq', 883885276, true);


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


